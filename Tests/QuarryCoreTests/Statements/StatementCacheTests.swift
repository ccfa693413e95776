import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The statements a connection keeps")
struct StatementCacheTests {
    private func connection(capacity: Int) throws -> TestConnection {
        var options = ConnectionOptions()
        options.statementCacheCapacity = capacity
        return try TestConnection(options: options)
    }

    @Test func statementIsReused() throws {
        try withConnection { db throws in
            let first = try db.cachedStatement(sql: "SELECT ?").sqliteStatement
            let second = try db.cachedStatement(sql: "SELECT ?").sqliteStatement
            #expect(first == second)
            #expect(try db.makeStatement(sql: "SELECT ?").sqliteStatement != first)
        }
    }

    @Test func heldStatementIsNotShared() throws {
        try withConnection { db throws in
            let first = try db.cachedStatement(sql: "SELECT ?")
            let second = try db.cachedStatement(sql: "SELECT ?")
            #expect(first !== second)
            let cursor = try Int.fetchCursor(first, arguments: [1])
            #expect(try Int.fetchOne(second, arguments: [2]) == 2)
            #expect(try cursor.next() == 1)
            #expect(try cursor.next() == nil)
        }
    }

    @Test func nestedQueryHasItsOwnStatement() throws {
        try withConnection { db throws in
            let sql = "SELECT column1 FROM (VALUES (1), (2), (3))"
            var seen: [[Int]] = []
            let outer = try Int.fetchCursor(db, sql: sql)
            while let n = try outer.next() {
                let inner = try Int.fetchCursor(db, sql: sql)
                while let m = try inner.next() { seen.append([n, m]) }
            }
            #expect(seen == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3], [3, 1], [3, 2], [3, 3]])
        }
    }

    @Test func executeLeavesNoArgumentsInTheCache() throws {
        try withConnection { db throws in
            let sql = "SELECT ?"
            for _ in 0..<2 {
                try db.execute(sql: sql, arguments: ["large"])
                #expect(try db.reusableStatement(sql: sql).arguments == [])
            }
            expectError(
                .SQLITE_MISMATCH,
                "could not bind 18446744073709551615 to parameter 1: it doesn't fit in a signed integer of 64 bits",
                sql: sql
            ) { try db.execute(sql: sql, arguments: [UInt64.max]) }
            #expect(try db.reusableStatement(sql: sql).arguments == [])
            expectError(.SQLITE_MISUSE) { try db.execute(sql: sql, arguments: ["large", "too many"]) }
            #expect(try db.reusableStatement(sql: sql).arguments == [])
        }
    }

    @Test func cachedStatementHasNoLeftoverArguments() throws {
        try withConnection { db throws in
            let sql = "SELECT ?"
            #expect(try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [1]) == 1)
            #expect(try db.cachedStatement(sql: sql).arguments == [])
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 0", sql: sql) {
                try Int.fetchOne(db.cachedStatement(sql: sql))
            }
        }
    }

    @Test func leastRecentlyUsedStatementGoesFirst() throws {
        try connection(capacity: 3).access { db throws in
            db.forgetStatements()
            for sql in ["SELECT 1", "SELECT 2", "SELECT 3"] { _ = try db.cachedStatement(sql: sql) }
            _ = try db.cachedStatement(sql: "SELECT 1")
            _ = try db.cachedStatement(sql: "SELECT 4")
            #expect(db.statementCache.count == 3)
            #expect(db.statementCache.statement(for: SQLKey("SELECT 2")) == nil)
            for sql in ["SELECT 1", "SELECT 3", "SELECT 4"] {
                #expect(db.statementCache.statement(for: SQLKey(sql)) != nil, "\(sql)")
            }
            for n in 0..<100 {
                #expect(try Int.fetchOne(db, sql: "SELECT \(n)") == n)
                #expect(db.statementCache.count == 3)
            }
        }
    }

    @Test func cacheWithoutCapacityKeepsNothing() throws {
        try connection(capacity: 0).access { db throws in
            for _ in 0..<3 { #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT 1")) == 1) }
            #expect(db.statementCache.count == 0)
        }
    }

    @Test func failingStatementIsForgotten() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
            let sql = "INSERT INTO t VALUES (1)"
            try db.execute(sql: sql)
            #expect(db.statementCache.statement(for: SQLKey(sql)) != nil)
            #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(db.statementCache.statement(for: SQLKey(sql)) == nil)
            try db.execute(sql: "DELETE FROM t")
            try db.execute(sql: sql)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
    }

    @Test func queriesAndChangesAloneAreKept() throws {
        try withConnection { db throws in
            func isKept(_ sql: String) throws -> Bool {
                try db.execute(sql: sql)
                return db.statementCache.statement(for: SQLKey(sql)) != nil
            }
            #expect(try isKept("CREATE TABLE t (a)") == false)
            #expect(try isKept("INSERT INTO t VALUES (1)"))
            #expect(try isKept("UPDATE t SET a = 2"))
            #expect(try isKept("WITH c AS (SELECT 1) SELECT * FROM c"))
            #expect(try isKept("-- a comment\n SELECT 1;"))
            #expect(try isKept("PRAGMA user_version") == false)
            #expect(try isKept("PRAGMA user_version = 1") == false)
            #expect(try isKept("SELECT 1; SELECT 2") == false)
            #expect(try isKept("DELETE FROM t"))
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 1)
            #expect(db.statementCache.statement(for: SQLKey("PRAGMA user_version")) == nil)
        }
    }

    @Test func equivalentSQLHasItsOwnStatement() throws {
        // U+00E9, e with U+0301; U+212B and A with U+030A have the same number of bytes too.
        let texts = ["\u{E9}", "e\u{301}", "\u{212B}", "A\u{30A}", "\u{C5}"]
        #expect(texts[0] == texts[1] && texts[2] == texts[3])
        try withConnection { db throws in
            for _ in 0..<2 {
                for text in texts {
                    let read = try String.fetchOne(db, sql: "SELECT '\(text)'")
                    #expect(read.map { Array($0.utf8) } == Array(text.utf8))
                    let cached = try String.fetchOne(db.cachedStatement(sql: "SELECT '\(text)' || ''"))
                    #expect(cached.map { Array($0.utf8) } == Array(text.utf8))
                }
            }
        }
    }

    @Test func fullCacheKeepsATextThatComesTwice() throws {
        try connection(capacity: 2).access { db throws in
            db.forgetStatements()
            func isKept(_ sql: String) -> Bool { db.statementCache.statement(for: SQLKey(sql)) != nil }
            _ = try Int.fetchOne(db, sql: "SELECT 1")
            try db.execute(sql: "SELECT 2")
            #expect(isKept("SELECT 1") && isKept("SELECT 2"))
            for n in 3...20 { #expect(try Int.fetchOne(db, sql: "SELECT \(n)") == n) }
            #expect(isKept("SELECT 1") && isKept("SELECT 2"))
            _ = try Int.fetchOne(db, sql: "SELECT 20")
            #expect(isKept("SELECT 20") && isKept("SELECT 2") && !isKept("SELECT 1"))
            for _ in 0..<2 { try db.execute(sql: "SELECT 21") }
            #expect(isKept("SELECT 21") && isKept("SELECT 2") && !isKept("SELECT 20"))
            _ = try db.cachedStatement(sql: "SELECT 22")
            #expect(isKept("SELECT 22") && isKept("SELECT 2") && !isKept("SELECT 21"))
        }
    }

    @Test func orderOfUseAgreesWithAList() throws {
        var random = SeededGenerator()
        print("StatementCacheTests.randomOrder seed: \(random.seed)")
        try withConnection { db throws in
            for capacity in 1...6 {
                var cache = StatementCache(capacity: capacity)
                var model: [String] = []
                for _ in 0..<1000 {
                    let sql = "SELECT \(Int.random(in: 0..<10, using: &random))"
                    let found = cache.newestStatement(for: sql) ?? cache.statement(for: SQLKey(sql))
                    #expect(found?.sql == (model.contains(sql) ? sql : nil), "seed \(random.seed)")
                    if let found {
                        let isToGo = Int.random(in: 0..<8, using: &random) == 0
                        if isToGo { cache.remove(found) }
                        model.removeAll { $0 == sql }
                        if !isToGo { model.append(sql) }
                    } else {
                        cache.insert(try db.makeStatement(sql: sql), for: SQLKey(sql))
                        if model.count == capacity { model.removeFirst() }
                        model.append(sql)
                    }
                    #expect(cache.count == model.count, "seed \(random.seed)")
                }
            }
        }
    }

    @Test func randomUseAnswersAsWithoutACache() throws {
        var random = SeededGenerator()
        print("StatementCacheTests.randomUse seed: \(random.seed)")
        try connection(capacity: 4).access { db throws in
            var held: [Statement] = []
            for step in 0..<2000 {
                let n = Int.random(in: 0..<8, using: &random)
                // Built anew, so that neither the same storage nor the same order helps.
                let sql = "SELECT \(n), ?"
                let statement = try db.cachedStatement(sql: sql)
                #expect(!held.contains { $0 === statement })
                let row = try #require(try Row.fetchOne(statement, arguments: [step]))
                #expect(row == ["\(n)": n, "?": step], "seed \(random.seed)")
                if Bool.random(using: &random) { held.append(statement) }
                if held.count > 6 || Int.random(in: 0..<5, using: &random) == 0 { held.removeAll() }
            }
        }
    }

    /// An adapter whose release runs a closure.
    private struct ObservedAdapter: RowAdapter {
        let observer: ReleaseObserver

        func projection(of columnNames: [String]) throws -> RowProjection {
            try RangeRowAdapter(0..<columnNames.count).projection(of: columnNames)
        }
    }

    /// Runs a statement that keeps an adapter, whose release runs a closure.
    private func keepAdapter(_ db: Database, _ action: @escaping () -> Void) throws {
        let adapter = ScopeAdapter(base: ObservedAdapter(observer: ReleaseObserver(action)), scopes: [:])
        _ = try Row.fetchAll(db, sql: "SELECT 'adapted'", adapter: adapter)
    }

    @Test func releasingKeptStatementsMayRunStatements() throws {
        try connection(capacity: 3).access { db in
            var found: [Int?] = []
            try keepAdapter(db) {
                for number in 1...5 { found.append(try? Int.fetchOne(db.cachedStatement(sql: "SELECT \(number)"))) }
            }
            _ = try db.cachedStatement(sql: "SELECT 0")
            db.releaseMemory()
            #expect(found == [1, 2, 3, 4, 5])
            for number in 0...5 {
                #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT \(number)")) == number)
            }
            #expect(db.statementCache.count == 3)
        }
    }

    @Test func releasingADroppedStatementMayReleaseTheOthers() throws {
        try connection(capacity: 2).access { db in
            var count: Int?
            try keepAdapter(db) {
                db.releaseMemory()
                count = db.statementCache.count
            }
            for number in 1...3 {
                #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT \(number)")) == number)
            }
            #expect(count == 0)
            #expect(db.statementCache.count == 1)
        }
    }
}
