import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The kinds of statements, against SQLite's own opinion of their texts.
@Suite struct StatementKindTests {
    private let names = [
        "s", "S", "\"s\"", "'s'", "[s]", "`s`", "to2", "\"TO\"", "'TRANSACTION'", "release", "end", "s\u{FEFF}", "é",
    ]
    /// Words that make most statements wrong, and that may be names.
    private let strays = ["x", "EXPLAIN", "\"COMMIT\""]
    /// A byte order mark that follows a name at once belongs to the name.
    private let spaces = [
        " ", "\n", "\t", "\u{C}", " \u{B}", "/* c */", "-- c\n", "\n\u{FEFF}", " \u{FEFF} ", "/**/\u{FEFF}", "\r",
    ]

    private func isOne(in count: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    /// The words of a statement that begins or ends transactions or savepoints, or nearly.
    private func words(_ random: inout SeededGenerator) -> [String] {
        func any(_ choices: [[String]]) -> [String] { choices.randomElement(using: &random)! }
        let name = names.randomElement(using: &random)!
        let savepoint = isOne(in: 2, &random) ? "s" : names.randomElement(using: &random)!
        let transaction = any([[], ["TRANSACTION"], ["TRANSACTION", name]])
        let to = any([[], ["TO", savepoint], ["TO", "SAVEPOINT", savepoint]])
        var words =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: any([["BEGIN"], ["begin", "IMMEDIATE"], ["BEGIN", "deferred"]]) + transaction
            case 1: any([["COMMIT"], ["End"]]) + transaction
            case 2: ["SAVEPOINT", savepoint]
            case 3: any([["RELEASE"], ["release", "SAVEPOINT"]]) + [savepoint]
            default: ["ROLLBACK"] + transaction + to
            }
        if isOne(in: 8, &random) { words.insert((strays + ["TO"]).randomElement(using: &random)!, at: 0) }
        if isOne(in: 8, &random) { words.remove(at: Int.random(in: 0..<words.count, using: &random)) }
        if isOne(in: 8, &random) { words.shuffle(using: &random) }
        return words
    }

    /// The effect of a statement that has run, as SQLite tells it.
    private func effect(wasInside: Bool, _ db: Database) throws -> StatementKind? {
        let rows = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        guard db.isInsideTransaction else { return wasInside ? rows == 1 ? .commit : .rollback : nil }
        // The savepoints that are open, the outer one last.
        let count = (names + strays).reversed().reduce(0) { count, name in
            var count = count
            while RawSQL.execute("RELEASE \(name)", db) == 0 { count += 1 }
            return count
        }
        guard wasInside else { return count == 0 ? .begin : .savepoint }
        return rows == 0 ? .rollbackToSavepoint : count == 0 ? .release : count == 2 ? .savepoint : nil
    }

    @Test func randomTextsHaveTheKindThatSQLiteGivesThem() throws {
        var random = SeededGenerator()
        print("StatementKindTests.randomTexts seed: \(random.seed)")
        var counts: [StatementKind: Int] = [:]
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            for _ in 0..<5_000 {
                let wasInside = !isOne(in: 5, &random)
                RawSQL.execute("DELETE FROM t", db)
                if wasInside { RawSQL.execute("BEGIN; SAVEPOINT s; INSERT INTO t VALUES (1)", db) }
                var sql = isOne(in: 3, &random) ? "\u{FEFF}" + spaces.randomElement(using: &random)! : ""
                for word in words(&random) { sql += word + spaces.randomElement(using: &random)! }
                if let statement = try? db.makeStatement(sql: sql) {
                    // The library's own bookkeeping isn't under test.
                    let code = RawSQL.execute(sql, db)
                    if code == 0 {
                        let effect = try effect(wasInside: wasInside, db)
                        let kind = statement.kind == .other ? nil : statement.kind
                        #expect(kind == effect, "\(sql.debugDescription), seed \(random.seed)")
                        if let effect { counts[effect, default: 0] += 1 }
                        if effect == .savepoint || effect == .release {
                            #expect(
                                (names + strays).contains { statement.isSavepoint(of: $0) }, "\(sql.debugDescription)")
                        }
                    }
                }
                RawSQL.execute("ROLLBACK", db)
            }
        }
        for kind in [StatementKind.begin, .commit, .rollback, .rollbackToSavepoint, .savepoint, .release] {
            #expect(counts[kind, default: 0] > 20, "\(kind), seed \(random.seed)")
        }
    }
}

extension Statement {
    /// Whether a name in SQL is that of the statement's savepoint.
    fileprivate func isSavepoint(of name: String) -> Bool {
        Substring(name).utf8.names.contains { $0.text.lowercasedASCII == savepointName.lowercasedASCII }
    }
}
