import Quarry

/// The text of a function that creates the schema.
struct SchemaSource {
    private enum Step {
        case table(TableDesign)
        case index(IndexDesign)
        case sql(String)
    }

    private let steps: [Step]
    /// A table by which a database that has the schema is known.
    private let firstTable: String?
    private let options: GenerationOptions

    init(_ schema: Schema, _ options: GenerationOptions, _ db: Database) throws {
        self.options = options
        firstTable = schema.objects.first { $0.type == "table" }?.name
        steps = try schema.objects.map { object in
            switch object.type {
            case "table":
                let isVirtual = schema.table(object.name)?.kind == .virtual
                let design = isVirtual ? nil : try TableDesign(object.name, sql: object.sql, db)
                return design.map { .table($0) } ?? .sql(object.sql)
            case "index":
                return try IndexDesign(object, db).map { .index($0) } ?? .sql(object.sql)
            default: return .sql(object.sql)
            }
        }
    }

    func write(typeName: String, to source: inout SourceText) {
        let access = options.access == .internal ? "" : options.access.rawValue + " "
        source.line("/// The schema: tables, indexes, views and triggers.")
        source.block("\(access)enum \(typeName)") { source in
            if options.migrator {
                source.line(
                    "/// Creates the schema in a database that hasn't got it. Later changes are registered after it.")
                source.block("\(access)static var migrator: DatabaseMigrator") { source in
                    source.line("var migrator = DatabaseMigrator()")
                    source.block("migrator.registerMigration(\"v1\")", parameter: "db") { source in
                        let create = "try createSchema(db)"
                        source.line(
                            firstTable.map { "if try !db.tableExists(\(SwiftName.literal($0))) { \(create) }" }
                                ?? create)
                    }
                    source.line("return migrator")
                }
                source.line()
            }
            source.line("/// Creates all there is, in an empty database.")
            source.block("\(access)static func createSchema(_ db: Database) throws") { source in
                for step in steps {
                    switch step {
                    case .table(let design): Self.write(design, to: &source)
                    case .index(let design):
                        source.line(
                            "try db.create(index: \(SwiftName.literal(design.name)), on: \(SwiftName.literal(design.table)), "
                                + "columns: \(SwiftName.literals(design.columns))"
                                + (design.isUnique ? ", options: .unique)" : ")"))
                    case .sql(let sql): source.call("try db.execute", sql: sql)
                    }
                }
            }
        }
    }

    private static func write(_ design: TableDesign, to source: inout SourceText) {
        var options: [String] = []
        if design.isWithoutRowID { options.append(".withoutRowID") }
        if design.isStrict { options.append(".strict") }
        let list =
            options.isEmpty
            ? "" : ", options: \(options.count == 1 ? options[0] : "[\(options.joined(separator: ", "))]")"
        source.block("try db.create(table: \(SwiftName.literal(design.name))\(list))", parameter: "t") { source in
            for column in design.columns { source.line(Self.line(column)) }
            if !design.primaryKey.isEmpty { source.line("t.primaryKey(\(SwiftName.literals(design.primaryKey)))") }
            for key in design.uniqueKeys { source.line("t.uniqueKey(\(SwiftName.literals(key)))") }
            for key in design.foreignKeys {
                let columns = key.destinationColumns.map { ", columns: \(SwiftName.literals($0))" } ?? ""
                source.line(
                    "t.foreignKey(\(SwiftName.literals(key.columns)), references: \(SwiftName.literal(key.table))"
                        + "\(columns)\(actions(key)))")
            }
        }
    }

    private static func line(_ column: TableDesign.DesignedColumn) -> String {
        let name = SwiftName.literal(column.name)
        var line =
            column.isAutoincremented && column.type == "INTEGER"
            ? "t.autoIncrementedPrimaryKey(\(name))"
            : "t.column(\(name)\(type(column.type)))"
                + (column.isPrimaryKey ? ".primaryKey(\(column.isAutoincremented ? "autoincrement: true" : ""))" : "")
        if column.isNotNull { line += ".notNull()" }
        if column.isUnique { line += ".unique()" }
        if let sql = column.defaultSQL { line += ".defaults(sql: \(SwiftName.literal(sql)))" }
        if let key = column.reference {
            let destination = key.destinationColumns?.first.map { ", column: \(SwiftName.literal($0))" } ?? ""
            line += ".references(\(SwiftName.literal(key.table))\(destination)\(actions(key)))"
        }
        return line
    }

    private static func type(_ type: String) -> String {
        if type.isEmpty { return "" }
        let known = ["TEXT", "INTEGER", "DOUBLE", "REAL", "NUMERIC", "BOOLEAN", "BLOB", "DATE", "DATETIME", "ANY"]
        if known.contains(type) { return ", .\(type.lowercased())" }
        return ", Database.ColumnType(rawValue: \(SwiftName.literal(type)))"
    }

    private static func actions(_ key: SchemaForeignKey) -> String {
        func text(_ label: String, _ action: String) -> String {
            let names = [
                "CASCADE": "cascade", "RESTRICT": "restrict", "SET NULL": "setNull", "SET DEFAULT": "setDefault",
            ]
            return names[action].map { ", \(label): .\($0)" } ?? ""
        }
        return text("onDelete", key.onDelete) + text("onUpdate", key.onUpdate)
    }
}
