public import Quarry
internal import QuarrySQL

/// Swift source that was made of a database.
///
/// ```swift
/// let code = try dbQueue.read { db in try GeneratedCode(db, source: "app.sqlite", GenerationOptions()) }
/// print(code.joined())
/// ```
public struct GeneratedCode: Sendable {
    /// A file, by its name.
    public struct File: Sendable {
        public var name: String
        public var text: String
    }

    /// A record type, and the table or view it is about.
    public struct RecordType: Sendable {
        public var name: String
        public var table: String
        public var isView: Bool
        public var associations: [AssociatedType]
    }

    /// An association of a record type.
    public struct AssociatedType: Sendable {
        public var name: String
        public var type: String
        public var isToMany: Bool
    }

    /// One file for each type, and one for the schema.
    public private(set) var files: [File] = []

    /// The types.
    public private(set) var types: [RecordType] = []

    /// Makes code of a database.
    ///
    /// - parameter source: what the database is called in comments.
    public init(_ db: Database, source name: String, _ options: GenerationOptions) throws {
        let schema = try Schema(db, rows: options.rows)
        for wanted in (options.tables ?? []) + options.excluded where schema.table(wanted) == nil {
            throw GenerationError.unknownTable(wanted)
        }
        guard !schema.tables.isEmpty else { throw GenerationError.nothing }
        let isWanted = { (table: SchemaTable) -> Bool in
            let isListed = options.tables.map { $0.contains { $0.isSameSQLName(as: table.name) } } ?? true
            return isListed && !options.excluded.contains { $0.isSameSQLName(as: table.name) }
        }
        let tables = schema.tables.filter(isWanted)
        let source = "Written by quarry-codegen from \(name)."

        var types = NameScope(reserved: ReservedNames.types)
        let schemaType = types.take(options.prefix + "DatabaseSchema")
        let anyType = types.take(SwiftType.any.rawValue)
        var records: [RecordPlan] = []
        for table in tables where (table.kind == .table || table.kind == .view) && !table.columns.isEmpty {
            let plural = SwiftName.type(table.name) ?? "UnnamedTable"
            let singular = options.singular ? SwiftName.type(EnglishNoun(table.name).singular) ?? plural : plural
            let typeName = types.take(
                options.prefix + singular, options.prefix + plural, options.prefix + singular + "Record")
            records.append(RecordPlan(table, typeName: typeName, options))
        }
        AssociationPlanner.plan(&records)

        for record in records {
            var text = Self.header(source)
            RecordSource(record: record, options: options).write(to: &text)
            files.append(File(name: record.typeName + ".swift", text: text.text))
            self.types.append(
                RecordType(
                    name: record.typeName, table: record.table.name, isView: record.table.kind == .view,
                    associations: record.associations.map { association in
                        AssociatedType(
                            name: association.name, type: association.destination,
                            isToMany: association.kind == .hasMany)
                    }))
        }
        if records.contains(where: { $0.properties.contains { $0.type == .any } }) {
            var text = Self.header(source)
            AnyDatabaseValueSource.write(options.access, to: &text)
            files.append(File(name: anyType + ".swift", text: text.text))
        }
        var text = Self.header(source)
        for table in tables {
            if let reason = Self.reasonToLeaveOut(table) { text.comment("No type for `\(table.name)`: \(reason).") }
        }
        if tables.contains(where: { Self.reasonToLeaveOut($0) != nil }) { text.line() }
        try SchemaSource(schema, options, db).write(typeName: schemaType, to: &text)
        files.append(File(name: schemaType + ".swift", text: text.text))
    }

    /// All in one file.
    public func joined() -> String {
        guard let first = files.first else { return "" }
        let head = first.text.prefix { $0 != "\n" } + "\n"
        let imports = "import Foundation\nimport Quarry\n"
        let bodies = files.map { file in
            file.text.split(separator: "\n", omittingEmptySubsequences: false).drop { line in
                line.isEmpty || line.hasPrefix("import ") || line.hasPrefix("// Written by")
            }.joined(separator: "\n")
        }
        return head + "\n" + imports + "\n" + bodies.joined(separator: "\n")
    }

    private static func header(_ source: String) -> SourceText {
        var text = SourceText()
        text.comment(source)
        text.line()
        text.line("import Foundation")
        text.line("import Quarry")
        text.line()
        return text
    }

    private static func reasonToLeaveOut(_ table: SchemaTable) -> String? {
        switch table.kind {
        case .virtual: "it is a virtual table"
        case .shadow: "it belongs to a virtual table"
        case .table: nil
        case .view:
            table.problem.map { "it can't be read: \($0)" } ?? (table.columns.isEmpty ? "it has no column" : nil)
        }
    }
}
