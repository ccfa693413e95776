import QuarryCore
import QuarrySQL
import Testing

/// A schema given as a dictionary: what queries are rendered from where there is no database.
final class DictionarySchema: QuerySchema, Sendable {
    struct Table: Sendable, ExpressibleByArrayLiteral {
        var columns: [String]
        /// nil for a table whose key is its rowid.
        var key: [String]?
        var hasRowID = true
        /// Keys other than the primary one.
        var uniqueKeys: [[String]] = []
        /// The tables that columns refer to, with the columns they refer to.
        var references: [TableReference] = []

        init(
            _ columns: [String], key: [String]? = nil, hasRowID: Bool = true, uniqueKeys: [[String]] = [],
            references: [TableReference] = []
        ) {
            self.columns = columns
            self.key = key
            self.hasRowID = hasRowID
            self.uniqueKeys = uniqueKeys
            self.references = references
        }

        /// The columns of a table whose key is its `id`, where it has one.
        init(arrayLiteral columns: String...) { self.init(columns, key: columns.contains("id") ? ["id"] : nil) }
    }

    private let tables: [String: Table]

    init(_ tables: [String: Table]) { self.tables = tables }

    private func table(_ name: String) throws -> Table {
        guard let table = tables.first(where: { $0.key.lowercased() == name.lowercased() })?.value else {
            throw DatabaseError(message: "no such table: \(name)")
        }
        return table
    }

    func keyColumns(of table: String) throws -> [String] { try self.table(table).key ?? ["rowid"] }

    func rowColumn(of table: String) throws -> String? {
        let found = try self.table(table)
        guard let key = found.key else { return "rowid" }
        return key.count == 1 ? key[0] : found.hasRowID ? "rowid" : key.first
    }

    func rowIDName(of table: String) throws -> String? {
        let found = try self.table(table)
        return found.hasRowID ? found.key == ["id"] ? "id" : "rowid" : nil
    }

    func keyMayBeNull(of table: String) throws -> Bool { false }

    func isViewWithoutKey(_ table: String) throws -> Bool { false }

    func columnNames(of table: String) throws -> [String] { try self.table(table).columns }

    func columnMayBeNull(_ column: String, of table: String) throws -> Bool {
        try !keyColumns(of: table).contains(column)
    }

    func uniqueKeys(of table: String) throws -> [[String]] {
        let found = try self.table(table)
        var keys = [found.key ?? ["rowid"]]
        if found.hasRowID, found.key != nil { keys.append(["rowid"]) }
        return keys + found.uniqueKeys
    }

    func references(from table: String) throws -> [TableReference] { try self.table(table).references }
}

extension TableReference {
    /// One column that refers to another one.
    init(_ column: String, _ table: String, _ destination: String = "id") {
        self.init(destination: table, columns: [(origin: column, destination: destination)])
    }
}

/// Teams, players and others.
let sport = DictionarySchema([
    "team": ["id", "name", "color"],
    "player": DictionarySchema.Table(
        ["id", "name", "score", "teamId"], key: ["id"], uniqueKeys: [["name"]],
        references: [TableReference("teamId", "team")]),
    "award": DictionarySchema.Table(
        ["id", "title", "playerId"], key: ["id"], references: [TableReference("playerId", "player")]),
    "profile": DictionarySchema.Table(
        ["playerId", "bio"], key: ["playerId"], references: [TableReference("playerId", "player")]),
    "match": DictionarySchema.Table(
        ["id", "homeId", "guestId"], key: ["id"],
        references: [TableReference("homeId", "team"), TableReference("guestId", "team")]),
    "pair": DictionarySchema.Table(["a", "b", "c"], key: ["a", "b"]),
    "part": DictionarySchema.Table(
        ["id", "pairA", "pairB"], key: ["id"],
        references: [
            TableReference(
                destination: "pair",
                columns: [(origin: "pairA", destination: "a"), (origin: "pairB", destination: "b")])
        ]),
    "thing": ["x", "y"],
    "noKey": ["x"],
    "person": DictionarySchema.Table(
        ["id", "parentId", "name"], key: ["id"], references: [TableReference("parentId", "person")]),
])

/// The SQL of what is written, with its arguments as literals.
func rendered(_ schema: DictionarySchema = sport, _ write: (inout QueryWriter) throws -> Void) throws -> String {
    var writer = QueryWriter(schema: schema)
    try write(&writer)
    return try SQLLiteral.inlining(writer.statementArguments(), into: writer.sql()) { value in
        try SQLLiteral.text(of: value, readsExactly: { _, _ in true }, isUTF8: { true })
    }
}

/// The SQL of a request, with its arguments as literals.
@discardableResult
func rendered<T>(_ request: QueryInterfaceRequest<T>) throws -> String {
    try rendered { try $0.write(request.query) }
}

/// Checks the SQL of a request, with its arguments as literals.
func expectSQL<T>(
    _ request: QueryInterfaceRequest<T>, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(try rendered(request) == expected, sourceLocation: sourceLocation)
}

/// Checks the SQL of the number of a request's rows.
func expectCountSQL<T>(
    _ request: QueryInterfaceRequest<T>, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(try rendered { try $0.write(countOf: request.query) } == expected, sourceLocation: sourceLocation)
}

/// Checks the SQL of a statement that changes a table.
func expectSQL(
    _ change: Change, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(try rendered { try $0.write(change) } == expected, sourceLocation: sourceLocation)
}
