import Quarry
import QuarryCore

/// The table of rows that have no place in another table.
///
/// ```sql
/// CREATE TABLE lost_and_found (page INTEGER, "table" TEXT, reason TEXT, fieldCount INTEGER, id INTEGER, c0, c1, …)
/// ```
struct LostAndFound {
    /// The name of the table: one that the damaged database doesn't have.
    private(set) var name = "lost_and_found"
    private(set) var rowCount = 0
    /// The number of values that didn't fit, of rows with more values than a table can have columns.
    private(set) var cutValueCount = 0
    private var columnCount = 0
    private var isCreated = false
    /// The names of the tables that the damaged database has, in small letters.
    private let names: Set<String>
    private var statements: [Shape: Statement] = [:]

    private struct Shape: Hashable {
        var count: Int
        var cast: [Int]
    }

    private static let fixedColumns = ["page", "table", "reason", "fieldCount", "id"]

    init(avoiding names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() })
    }

    private func freeName(_ db: Database) throws -> String {
        // The text of a damaged schema may have created a table under another name than the schema says.
        let made = try String.fetchAll(db, sql: "SELECT lower(name) FROM main.sqlite_master")
        let taken = names.union(made)
        return (["lost_and_found"] + (0...taken.count).lazy.map { "lost_and_found_\($0)" })
            .first { !taken.contains($0) } ?? "lost_and_found"
    }

    mutating func insert(
        _ row: SalvageTarget.Row, _ allValues: [DatabaseValue], _ allCast: [Int], table: String?, reason: String,
        _ db: Database
    ) throws {
        let limit = min(db.limit(.column), db.limit(.variableNumber)) - Self.fixedColumns.count
        let values = Array(allValues.prefix(limit))
        cutValueCount += allValues.count - values.count
        let cast = allCast.filter { $0 < values.count }
        try makeColumns(values.count, db)
        let shape = Shape(count: values.count, cast: cast)
        let statement = try statements[shape] ?? makeStatement(shape, db)
        if statements.count >= 64 { statements.removeAll() }
        statements[shape] = statement
        let fixed: [DatabaseValue] = [
            DatabaseValue(rawStorage: .int64(Int64(row.page))),
            table.map { DatabaseValue(rawStorage: .string($0)) } ?? .null,
            DatabaseValue(rawStorage: .string(reason)),
            DatabaseValue(rawStorage: .int64(Int64(row.record.values.count))),
            row.rowID.map { DatabaseValue(rawStorage: .int64($0)) } ?? .null,
        ]
        try statement.execute(arguments: StatementArguments(fixed + values))
        rowCount += 1
    }

    private mutating func makeColumns(_ count: Int, _ db: Database) throws {
        if !isCreated {
            name = try freeName(db)
            try db.execute(
                sql: """
                    CREATE TABLE main.\(name.quotedDatabaseIdentifier) \
                    (page INTEGER, "table" TEXT, reason TEXT, fieldCount INTEGER, id INTEGER)
                    """)
            isCreated = true
        }
        guard columnCount < count else { return }
        statements = [:]
        while columnCount < count {
            try db.execute(sql: "ALTER TABLE main.\(name.quotedDatabaseIdentifier) ADD COLUMN c\(columnCount)")
            columnCount += 1
        }
    }

    private func makeStatement(_ shape: Shape, _ db: Database) throws -> Statement {
        let names = Self.fixedColumns.map(\.quotedDatabaseIdentifier) + (0..<shape.count).map { "c\($0)" }
        let values =
            Self.fixedColumns.map { _ in "?" }
            + (0..<shape.count).map { shape.cast.contains($0) ? "CAST(? AS TEXT)" : "?" }
        return try db.makeStatement(
            sql: """
                INSERT INTO main.\(name.quotedDatabaseIdentifier) (\(names.joined(separator: ", "))) \
                VALUES (\(values.joined(separator: ", ")))
                """)
    }
}
