import Quarry
import QuarryCore
import QuarrySQL

/// A column inferred from a type.
struct InferredColumn: Hashable, Sendable {
    var name: String
    /// The type of the values; nil if it can't be inferred.
    var type: SQLColumnType?
    /// The reason why the type can't be inferred.
    var problem: String?
    var isOptional: Bool

    init(name: String, type: SQLColumnType?, problem: String? = nil, isOptional: Bool) {
        self.name = name
        self.type = type
        self.problem = problem
        self.isOptional = isOptional
    }
}

extension TableSchema {
    /// Whether the record's properties are columns.
    var wantsInferredColumns: Bool { infersColumns }

    /// Defines the table.
    ///
    /// - parameter table: the definition, which has no columns yet.
    /// - parameter inferred: the columns of the record.
    /// - throws: `SQLITE_MISUSE` if the declaration contradicts itself, or is incomplete.
    func define(_ table: TableDefinition, inferred: [InferredColumn]) throws {
        var declared: [String: Column] = [:]
        var order: [String] = []
        for part in parts {
            guard case .column(let column) = part.content else { continue }
            let key = column.name.lowercasedASCII
            guard declared[key] == nil else {
                throw DatabaseError.misuse("column \(column.name) of table \(table.name) is declared twice")
            }
            declared[key] = column
            order.append(key)
        }
        for column in inferred {
            let declaration = declared.removeValue(forKey: column.name.lowercasedASCII)
            try define(declaration ?? Column(name: column.name, type: nil), of: column, in: table)
        }
        for key in order {
            if let column = declared[key] { try define(column, of: nil, in: table) }
        }
        for part in parts {
            if case .constraint(let apply) = part.content { apply(table) }
        }
        guard table.primaryKeyCount <= 1 else {
            throw DatabaseError.misuse("table \(table.name) has \(table.primaryKeyCount) primary keys")
        }
    }

    private func define(_ column: Column, of inferred: InferredColumn?, in table: TableDefinition) throws {
        let type = column.type ?? inferred?.type.map { options.contains(.strict) ? $0.inStrictTables : $0 }
        // The column has the record's spelling of the name.
        let definition = table.column(inferred?.name ?? column.name, type)
        column.apply(to: definition)
        if type == nil, definition.generated == nil {
            let reason = inferred?.problem ?? "no property of the record has it"
            throw DatabaseError.misuse("column \(column.name) of table \(table.name) needs a type: \(reason)")
        }
        let isInteger = type?.isInteger ?? false
        if let key = definition.primaryKey, key.isAutoincremented, !isInteger {
            throw DatabaseError.misuse(
                "column \(column.name) of table \(table.name) can't be autoincremented: it isn't an INTEGER")
        }
        guard !column.allowsNull, !definition.isNotNull, definition.generated == nil else { return }
        // Inserting NULL in the rowid column generates a number.
        let isNeverNull = definition.primaryKey != nil ? !isInteger : inferred.map { !$0.isOptional } ?? false
        if isNeverNull { definition.notNull() }
    }

    /// The indexes declared by parts.
    func indexes(of table: String, in schemaName: String?) -> [IndexDefinition] {
        parts.compactMap { part in
            guard case .index(let index) = part.content else { return nil }
            let name =
                index.suffix.map { table + $0 } ?? IndexDefinition.defaultName(on: table, columns: index.columns)
            return IndexDefinition(
                name: name, schemaName: schemaName, table: table, terms: index.terms, options: index.options,
                condition: index.condition)
        }
    }
}

extension SQLColumnType {
    /// The corresponding type in STRICT tables, which allow few types: <https://www.sqlite.org/stricttables.html>.
    fileprivate var inStrictTables: SQLColumnType {
        switch self {
        case .boolean: .integer
        case .double: .real
        case .date, .datetime: .text
        default: self
        }
    }
}
