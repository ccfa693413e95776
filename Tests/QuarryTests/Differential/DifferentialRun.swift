import Quarry
import QuarryTestSupport

/// Programs of random statements, each of which runs in both databases.
struct DifferentialRun: Sendable {
    private var random: SeededGenerator
    private(set) var differences: [String] = []
    private(set) var succeeded = 0
    private(set) var rows = 0

    init(_ random: SeededGenerator) { self.random = random }

    mutating func run(statements count: Int) throws {
        var first = 0
        while first < count, differences.count < 5 {
            let length = min(150, count - first)
            try runProgram(from: first, count: length)
            first += length
        }
    }

    /// A program of its own: after a difference, the databases differ.
    private mutating func runProgram(from first: Int, count: Int) throws {
        let reference = try ReferenceConnection()
        var program = RandomProgram(random: SeededGenerator(seed: random.next()))
        var configuration = Configuration()
        configuration.statementCacheCapacity = [1, 2, 128][Int.random(in: 0..<3, using: &random)]
        try DatabaseQueue(configuration: configuration).writeWithoutTransaction { db in
            let library = LibraryConnection(db: db)
            var history: [String] = []
            var statements: [RandomStatement] = []
            for index in first..<first + count {
                var statement = program.next()
                // Outside of a transaction, the next statement that reads switches it off when it ends. That may be one
                // that the library runs to notice foreign schema changes: https://www.sqlite.org/pragma.html
                if statement.sql.contains("defer_foreign_keys"), !db.isInsideTransaction {
                    statement.sql = "PRAGMA defer_foreign_keys"
                }
                // The library refuses a text that a misplaced quote has divided into two statements.
                if statement.sql.contains(";"), reference.hasSeveralStatements(statement.sql) { continue }
                statements.append(statement)
                let expected = Self.normalized(reference.run(statement))
                var way = LibraryConnection.Way.allCases.randomElement(using: &random)!
                // A caller who asks for one row doesn't see the error of a later one.
                if expected.failure != nil, way == .firstRow || way == .cursorLeftHalfway { way = .fetchAllKept }
                history.append("\(way): \(statement.sql) \(statement.arguments)")
                let found = Self.normalized(library.run(statement, way, expected: expected))
                if let difference = found.difference(from: expected) {
                    // SQLite makes rowids by chance where the largest is taken: https://www.sqlite.org/autoinc.html
                    let isByChance = try (0..<8).contains { _ in
                        try Self.outcomeAgain(of: statements).difference(from: expected) != nil
                    }
                    if isByChance { break }
                    let program = history.suffix(25).joined(separator: "\n")
                    differences.append("statement \(index), \(way): \(difference)\n\(program)")
                    break
                }
                if expected.failure == nil { succeeded += 1 }
                rows += expected.rows?.count ?? 0
                // A trigger may roll back what has changed the schema, too. Both are asked: a question makes SQLite
                // read a schema again that a failed ALTER TABLE has left halfway.
                if statement.changesSchema || expected.failure != nil {
                    program.tables = reference.tables()
                    _ = try? Row.fetchAll(db, sql: ReferenceConnection.tablesSQL)
                }
            }
            if db.isInsideTransaction { try db.rollback() }
        }
    }

    /// The outcome of the last of some statements with the C API, in a new database. It differs where chance decides.
    private static func outcomeAgain(of statements: [RandomStatement]) throws -> SQLiteOutcome {
        let reference = try ReferenceConnection()
        return statements.reduce(SQLiteOutcome(columns: [], rows: [])) { _, statement in
            normalized(reference.run(statement))
        }
    }

    /// The parts of an outcome that can be compared.
    private static func normalized(_ outcome: SQLiteOutcome) -> SQLiteOutcome {
        var outcome = outcome
        // The library gives text that is no UTF-8 as a blob of its bytes: a `String` has no others.
        outcome.rows = outcome.rows?.map { $0.map(\.withoutBrokenText) }
        return outcome
    }
}
