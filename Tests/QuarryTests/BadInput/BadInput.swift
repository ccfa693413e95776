import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// One way to go wrong: what is done, and the error that it must throw.
///
/// ```swift
/// .connection("a misspelt word", "SQLITE_ERROR: near \"SELEC\": syntax error - while executing `SELEC 1`") { db in
///     try db.execute(sql: "SELEC 1")
/// }
/// ```
struct BadInput: Sendable, CustomTestStringConvertible {
    /// Where the mistake is made, and what must work there afterwards.
    enum Place: Sendable {
        /// In a write of a queue in memory, outside a transaction: that write goes on.
        case connection(@Sendable (Database) throws -> Void)
        /// In a read of that queue: that read goes on.
        case read(@Sendable (Database) throws -> Void)
        /// At that queue: later accesses work.
        case queue(@Sendable (DatabaseQueue) throws -> Void)
        /// At a pool on a file: later accesses work.
        case pool(@Sendable (DatabasePool, TemporaryFolder) throws -> Void)
        /// At files that `prepare` has made: they stay as they were, and no descriptor stays open.
        case files(prepare: Preparation, @Sendable (TemporaryFolder) throws -> Void)
    }

    /// Makes the files that a case finds.
    struct Preparation: Sendable {
        let run: @Sendable (TemporaryFolder) throws -> Void

        init(_ run: @escaping @Sendable (TemporaryFolder) throws -> Void) { self.run = run }

        /// An empty folder.
        static let nothing = Preparation { _ in }
    }

    let name: String

    /// The error as `BadInput.description(of:)` writes it, in the words of each version of SQLite.
    var expected: [String]
    let place: Place

    var testDescription: String { name }

    /// The same mistake, whose error newer versions of SQLite word otherwise.
    func or(_ other: String) -> BadInput {
        var input = self
        input.expected.append(other)
        return input
    }

    static func connection(
        _ name: String, _ expected: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) -> BadInput {
        BadInput(name: name, expected: [expected], place: .connection(body))
    }

    static func read(
        _ name: String, _ expected: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) -> BadInput {
        BadInput(name: name, expected: [expected], place: .read(body))
    }

    static func queue(
        _ name: String, _ expected: String, _ body: @escaping @Sendable (DatabaseQueue) throws -> Void
    ) -> BadInput {
        BadInput(name: name, expected: [expected], place: .queue(body))
    }

    static func pool(
        _ name: String, _ expected: String, _ body: @escaping @Sendable (DatabasePool, TemporaryFolder) throws -> Void
    ) -> BadInput {
        BadInput(name: name, expected: [expected], place: .pool(body))
    }

    static func files(
        _ name: String, _ expected: String, prepare: Preparation = .nothing,
        _ body: @escaping @Sendable (TemporaryFolder) throws -> Void
    ) -> BadInput {
        BadInput(name: name, expected: [expected], place: .files(prepare: prepare, body))
    }

    /// `SQLITE_ERROR: no such table: t - while executing …` with the name of the extended code; `RowDecodingError: …`;
    /// the type and description of another error.
    static func description(of error: any Error) -> String {
        switch error {
        case let error as DatabaseError:
            let code = "\(error.extendedResultCode)".split(separator: " ").last?.dropFirst().dropLast() ?? "?"
            let sql = error.sql.map { " - while executing `\($0)`" } ?? ""
            return "\(code): \(error.message ?? "no message")\(error.circumstances ?? "")\(sql)"
        case let error as RowDecodingError:
            return "RowDecodingError: \(error.description)"
        default:
            return "\(type(of: error)): \(error)"
        }
    }
}

/// The tables that all cases find.
extension BadInput {
    static func makeTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER CHECK (score >= 0),
                    teamId INTEGER REFERENCES team (id) DEFERRABLE INITIALLY DEFERRED, photo BLOB);
                CREATE TABLE setting (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
                INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
                INSERT INTO player VALUES (1, 'Arthur', 100, 1, x'0102030405'), (2, 'Barbara', NULL, NULL, NULL);
                """)
    }

    /// Reads, writes, and reads what was written.
    static func probe(_ db: Database) throws {
        try #require(try String.fetchAll(db, sql: "SELECT name FROM player WHERE id <= 2") == ["Arthur", "Barbara"])
        try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: ["Probe"])
        try #require(db.changesCount == 1)
        try db.execute(sql: "DELETE FROM team WHERE name = ?", arguments: ["Probe"])
        try #require(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team WHERE name = 'Probe'") == 0)
    }
}
