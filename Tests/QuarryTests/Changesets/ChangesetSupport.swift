import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

extension Database {
    /// The changeset of some SQL.
    func recorded(_ sql: String, of tables: [String]? = nil) throws -> Changeset {
        try recordChangeset(of: tables) { try execute(sql: sql) }.changeset
    }

    /// The rows of a table, as text: `1|a,2|b`.
    func rows(_ table: String = "player") throws -> String {
        try Row.fetchAll(self, sql: "SELECT * FROM \(table) ORDER BY 1").map { row in
            row.map { $1.isNull ? "NULL" : "\($1.rawStorage)".unwrapped }.joined(separator: "|")
        }.joined(separator: ",")
    }
}

extension String {
    /// `int64(1)` as `1`
    fileprivate var unwrapped: String {
        guard let start = firstIndex(of: "("), hasSuffix(")") else { return self }
        return String(self[index(after: start)...].dropLast()).replacing("\"", with: "")
    }
}

/// Two databases with the same table, and the same rows.
func withPlayers(
    _ more: String = "", _ body: (_ first: Database, _ second: Database) throws -> Void
) throws {
    func makeTables(_ db: Database) throws {
        try db.makeUniquePlayers(["a": 10, "b": 20])
        try db.execute(sql: more)
    }
    try withConnection { first in
        try makeTables(first)
        try withConnection { second in
            try makeTables(second)
            try body(first, second)
        }
    }
}
