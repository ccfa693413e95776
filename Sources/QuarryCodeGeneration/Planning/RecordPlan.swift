import Quarry

/// A record type that is to be written.
struct RecordPlan {
    struct Property {
        var name: String
        var column: SchemaColumn
        var type: SwiftType
        var isOptional: Bool
        /// Its default value, in Swift.
        var defaultValue: String?

        var typeName: String { type.rawValue + (isOptional ? "?" : "") }
    }

    var table: SchemaTable
    var typeName: String
    var properties: [Property]
    var associations: [AssociationPlan] = []

    /// Columns whose names Swift can't tell from others'.
    var hiddenColumns: [String]

    /// The property that identifies the row, if it isn't called `id` itself.
    var identity: Property?
    var isIdentifiable: Bool

    /// The property that gets the rowid.
    var rowIDProperty: Property? {
        table.rowIDColumn.flatMap { name in properties.first { $0.column.name.isSameSQLName(as: name) } }
    }

    var hasGeneratedColumns: Bool { properties.contains { $0.column.isGenerated } }

    init(_ table: SchemaTable, typeName: String, _ options: GenerationOptions) {
        self.table = table
        self.typeName = typeName
        let keys = Set((table.primaryKey + table.foreignKeys.flatMap(\.columns)).map(\.sqlName))
        var scope = NameScope(reserved: ReservedNames.members)
        // Text that differs in its composition alone is the same to Swift.
        var seen: Set<String> = []
        let columns = table.columns.filter { seen.insert($0.name).inserted }
        hiddenColumns = table.columns.map(\.name).filter { name in
            !columns.contains { $0.name.isSameText(as: name) }
        }
        // Names that need no change come first: `a b` gives way to `aB`.
        var names = columns.map { column -> String? in
            let name = SwiftName.property(column.name, camelCase: options.camelCase) ?? "column"
            return name == column.name && !ReservedNames.members.contains(name) ? scope.take(name) : nil
        }
        for (index, column) in columns.enumerated() where names[index] == nil {
            let name = SwiftName.property(column.name, camelCase: options.camelCase) ?? "column"
            names[index] = ReservedNames.members.contains(name) ? scope.take(name + "_") : scope.take(name)
        }
        properties = zip(columns, names).map { column, name in
            Self.property(column, name ?? column.name, isKey: keys.contains(column.name.sqlName), of: table, options)
        }
        isIdentifiable = false
        guard table.kind == .table, table.primaryKey.count == 1 else { return }
        let id = properties.first { $0.name == "id" }
        let key = properties.first { $0.column.name.isSameSQLName(as: table.primaryKey[0]) }
        guard let key, key.type != .any else { return }
        if id == nil {
            identity = key
            isIdentifiable = true
        } else {
            isIdentifiable = id?.column.name == key.column.name
        }
    }

    private static func property(
        _ column: SchemaColumn, _ name: String, isKey: Bool, of table: SchemaTable, _ options: GenerationOptions
    ) -> Property {
        let type = SwiftType(of: column, isKey: isKey, dates: options.dates)
        let isRowID = table.rowIDColumn.map { $0.isSameSQLName(as: column.name) } ?? false
        let isInKey = table.primaryKey.contains { $0.isSameSQLName(as: column.name) }
        let isNeverNull = column.isNotNull || (isInKey && !column.contents.hasNull)
        let isOptional = table.kind == .view || column.isGenerated || isRowID || !isNeverNull
        return Property(
            name: name, column: column, type: isRowID ? .int64 : type, isOptional: isOptional,
            defaultValue: isOptional ? nil : defaultValue(column, type))
    }

    /// A default that Swift can say.
    private static func defaultValue(_ column: SchemaColumn, _ type: SwiftType) -> String? {
        guard let sql = column.defaultSQL else { return nil }
        let text = sql.trimmed
        switch type {
        case .bool: return ["0": "false", "1": "true", "FALSE": "false", "TRUE": "true"][text.uppercased()]
        case .int, .int64: return Int64(text).map { "\($0)" }
        case .double: return Double(text).flatMap { $0.isFinite ? "\($0)" : nil }
        case .string:
            guard text.count >= 2, text.first == "'", text.last == "'" else { return nil }
            let inner = text.dropFirst().dropLast()
            // Quotes inside are doubled.
            let parts = inner.split(separator: "''", omittingEmptySubsequences: false)
            guard !parts.contains(where: { $0.contains("'") }) else { return nil }
            return SwiftName.literal(parts.joined(separator: "'"))
        case .data, .date, .any: return nil
        }
    }
}

extension String {
    var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
