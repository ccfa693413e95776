import Quarry
import QuarryCore
import QuarrySQL

/// The facts about a table that SQLite reports.
struct TableFacts {
    struct Index: Hashable {
        var name: String
        var sql: String
    }

    /// A foreign key, ignoring the definition of the referenced table.
    struct ForeignKey: Hashable {
        var columns: [SchemaName]
        var text: String
    }

    var columns: [ColumnInfo]
    var primaryKey: String?
    var uniqueKeys: Set<String>
    var foreignKeys: Set<ForeignKey>
    var indexes: [Index]
    var options: String?

    init(_ table: SchemaReader.Found, _ db: Database) throws {
        let sql = { (condition: String) throws in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name, sql FROM \(db.qualified("sqlite_master", table.schema)) \
                    WHERE \(condition) AND tbl_name = ? COLLATE NOCASE ORDER BY name
                    """, arguments: [table.name])
        }
        columns = try db.schema.columns(of: table, db)
        let tableSQL: String = try sql("type = 'table'").first?["sql"] ?? ""
        let key = try? db.schema.primaryKey(of: table, db)
        let indexes = try db.schema.indexes(of: table, db)
        if let key, !key.isRowID || key.rowIDColumn != nil {
            let terms = indexes.first { $0.origin == .primaryKeyConstraint }?.terms
            let isDescending = terms?.map(\.isDescending) ?? []
            primaryKey =
                Self.list(key.columns, isDescending)
                + (SQLWords.contains("AUTOINCREMENT", in: tableSQL) ? " AUTOINCREMENT" : "")
        }
        uniqueKeys = Set(
            indexes.filter { $0.origin == .uniqueConstraint }
                .map { Self.list($0.columns, $0.terms.map(\.isDescending)) })
        foreignKeys = Set(try db.schema.writtenForeignKeys(of: table, db))
        self.indexes = try sql("type = 'index' AND sql IS NOT NULL").map { row in
            Index(name: row["name"], sql: SQLWords.normalized(row["sql"]))
        }
        let listing = try db.schema.listing(of: table, db)
        let words = [(listing?.isStrict, "STRICT"), (listing?.isWithoutRowID, "WITHOUT ROWID")]
        let names = words.filter { $0.0 ?? false }.map(\.1)
        options = names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private static func list(_ columns: [String], _ isDescending: [Bool]) -> String {
        let terms = columns.enumerated().map { index, name in
            name.lowercasedASCII + (index < isDescending.count && isDescending[index] ? " DESC" : "")
        }
        return "(\(terms.joined(separator: ", ")))"
    }
}

/// The columns, indexes and constraints of a table that differ from its record's declaration: missing, additional or
/// changed.
struct TableComparison {
    var missingColumns: [ColumnInfo] = []
    var undeclaredColumns: [ColumnInfo] = []
    var missingIndexes: [String] = []
    var undeclaredIndexes: [String] = []
    var differences: [SchemaMismatch] = []

    init(_ declared: TableFacts, _ actual: TableFacts, table: String) {
        compareColumns(declared, actual)
        compareIndexes(declared, actual)
        note(.primaryKey, table, declared.primaryKey, actual.primaryKey)
        note(.uniqueKeys, table, Self.text(declared.uniqueKeys), Self.text(actual.uniqueKeys))
        compareForeignKeys(declared, actual, table)
        note(.options, table, declared.options, actual.options)
    }

    private mutating func compareColumns(_ declared: TableFacts, _ actual: TableFacts) {
        let known = Dictionary(actual.columns.map { (SchemaName($0.name), $0) }, uniquingKeysWith: { $1 })
        let wanted = Set(declared.columns.map(\.name).schemaNames)
        for column in declared.columns {
            guard let other = known[SchemaName(column.name)] else {
                missingColumns.append(column)
                continue
            }
            note(.type, column.name, column.type.isEmpty ? nil : column.type, other.type.isEmpty ? nil : other.type)
            note(.notNull, column.name, column.isNotNull ? "NOT NULL" : nil, other.isNotNull ? "NOT NULL" : nil)
            note(
                .defaultValue, column.name, column.defaultValueSQL, other.defaultValueSQL, by: SQLWords.normalized)
            note(.generation, column.name, column.generation.map { "\($0)" }, other.generation.map { "\($0)" })
        }
        undeclaredColumns = actual.columns.filter { !wanted.contains(SchemaName($0.name)) }
    }

    private mutating func compareIndexes(_ declared: TableFacts, _ actual: TableFacts) {
        let known = Dictionary(actual.indexes.map { (SchemaName($0.name), $0) }, uniquingKeysWith: { $1 })
        let wanted = Set(declared.indexes.map(\.name).schemaNames)
        for index in declared.indexes {
            if let other = known[SchemaName(index.name)] {
                note(.index, index.name, index.sql, other.sql, by: { $0 })
            } else {
                missingIndexes.append(index.name)
            }
        }
        undeclaredIndexes = actual.indexes.map(\.name).filter { !wanted.contains(SchemaName($0)) }
    }

    /// The foreign keys of missing columns are added with the columns.
    private mutating func compareForeignKeys(_ declared: TableFacts, _ actual: TableFacts, _ table: String) {
        let missing = Set(missingColumns.map(\.name).schemaNames)
        let wanted = declared.foreignKeys.filter { !missing.isSuperset(of: $0.columns) }
        note(
            .foreignKeys, table, Self.text(Set(wanted.map(\.text))), Self.text(Set(actual.foreignKeys.map(\.text))))
    }

    /// - parameter form: the form in which texts are compared; by default, their case is ignored.
    private mutating func note(
        _ kind: SchemaMismatch.Kind, _ name: String, _ declared: String?, _ actual: String?,
        by form: (String) -> String = { $0.lowercasedASCII }
    ) {
        guard declared.map(form) != actual.map(form) else { return }
        differences.append(SchemaMismatch(kind: kind, name: name, declared: declared, actual: actual))
    }

    private static func text(_ keys: Set<String>) -> String? {
        keys.isEmpty ? nil : keys.sorted().joined(separator: ", ")
    }

    /// All differences.
    var mismatches: [SchemaMismatch] {
        missingColumns.map {
            SchemaMismatch(kind: .missingColumn, name: $0.name, declared: $0.type, actual: nil)
        }
            + undeclaredColumns.map {
                SchemaMismatch(kind: .undeclaredColumn, name: $0.name, declared: nil, actual: $0.type)
            }
            + missingIndexes.map { SchemaMismatch(kind: .missingIndex, name: $0, declared: $0, actual: nil) }
            + undeclaredIndexes.map { SchemaMismatch(kind: .undeclaredIndex, name: $0, declared: nil, actual: $0) }
            + differences
    }
}

extension SchemaReader {
    /// The foreign keys of a table, read without the referenced tables.
    fileprivate func writtenForeignKeys(of table: Found, _ db: Database) throws -> [TableFacts.ForeignKey] {
        let rows: [Row] = try Self.pragma("foreign_key_list", table.name, table.schema, db) { $0.copy() }
        return Dictionary(grouping: rows) { $0["id"] as Int }.values.map { rows in
            let columns = rows.map { $0["from"] as String }
            let destinations = rows.compactMap { $0["to"] as String? }
            let (table, onDelete, onUpdate): (String, String, String) = (
                rows[0]["table"], rows[0]["on_delete"], rows[0]["on_update"]
            )
            let text = """
                (\(columns.joined(separator: ", "))) REFERENCES \(table)(\(destinations.joined(separator: ", "))) \
                ON DELETE \(onDelete) ON UPDATE \(onUpdate)
                """
            return TableFacts.ForeignKey(columns: columns.schemaNames, text: text.lowercasedASCII)
        }
    }
}

extension DeclaredTable {
    /// Compares the declaration with an existing table.
    func comparison(with table: SchemaReader.Found, _ db: Database) throws -> TableComparison {
        let declared = try withScratchDatabase(db) { scratch in
            try TableFacts(scratch.schema.table(name, in: "main", scratch), scratch)
        }
        return try TableComparison(declared, TableFacts(table, db), table: table.name)
    }
}
