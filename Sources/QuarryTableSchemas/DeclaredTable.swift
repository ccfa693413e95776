import Quarry
import QuarryCore
import QuarrySQL

/// The table that a record declares, rendered for a connection.
struct DeclaredTable {
    let name: String
    let schemaName: String?
    let schema: TableSchema
    let inferred: [InferredColumn]
    let definition: TableDefinition
    /// The indexes of columns, and of the schema.
    let indexes: [IndexDefinition]
    let sql: String

    init(_ type: any TableSchemaProviding.Type, named name: String?, in schemaName: String?, _ db: Database) throws {
        self.name = name ?? type.databaseTableName
        self.schemaName = schemaName
        schema = type.databaseSchema
        guard schema.options.isDisjoint(with: [.ifNotExists, .temporary]) else {
            throw DatabaseError.misuse("the schema of \(self.name) can't have the options ifNotExists and temporary")
        }
        inferred = schema.wantsInferredColumns ? try ColumnTypeRecorder.columns(of: type) : []
        definition = TableDefinition(name: self.name, schemaName: schemaName, options: schema.options)
        try schema.define(definition, inferred: inferred)
        let rendering = try definition.render(db.schemaResolver)
        sql = rendering.table
        indexes = rendering.indexes + schema.indexes(of: self.name, in: schemaName)
    }

    /// Creates the table and its indexes.
    func create(_ db: Database) throws {
        try db.execute(sql: sql)
        for index in indexes { try db.create(index) }
    }

    /// Runs `body` with a database in memory that contains only the table.
    func withScratchDatabase<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        let scratch = try db.openScratch(path: ":memory:")
        return try scratch.asAccess { scratch in
            // The types of referenced keys are known already, and written in the definition.
            let table = TableDefinition(name: name, schemaName: nil, options: schema.options)
            try schema.define(table, inferred: inferred)
            try scratch.execute(sql: table.render(db.schemaResolver).table)
            for index in indexes {
                var index = index
                index.schemaName = nil
                try scratch.execute(sql: index.sql(db.schemaResolver))
            }
            return try body(scratch)
        }
    }
}
