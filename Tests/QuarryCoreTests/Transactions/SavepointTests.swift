import QuarryCore
import QuarryTestSupport
import Testing

@Suite("Savepoints")
struct SavepointTests {
    private struct Failure: Error {}

    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            try body(db)
            #expect(!db.isInsideTransaction)
        }
    }

    private func insert(_ value: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
    }

    private func values(_ db: Database) throws -> [Int] { try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }

    @Test func outerSavepointIsAnImmediateTransaction() throws {
        try withTable { db throws in
            let sql = try emitted(db) {
                try db.inSavepoint {
                    try insert(1, db)
                    return .commit
                }
            }
            #expect(sql == ["BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (1)", "COMMIT TRANSACTION"])
            let rolledBack = try emitted(db) {
                try db.inSavepoint {
                    try insert(2, db)
                    return .rollback
                }
            }
            #expect(rolledBack.last == "ROLLBACK TRANSACTION")
            #expect(throws: Failure.self) {
                try db.inSavepoint {
                    try insert(3, db)
                    throw Failure()
                }
            }
            #expect(try values(db) == [1])
        }
    }

    /// SQL that has opened savepoints of the library's name hides none of the changes.
    @Test func savepointsOfTheLibrarysNameEndWithIt() throws {
        try withTable { db throws in
            let opening = { (value: Int) in
                try insert(value, db)
                for _ in 0..<2 { try db.execute(sql: "SAVEPOINT quarry") }
                try insert(value + 1, db)
            }
            try db.inTransaction {
                try db.inSavepoint {
                    try db.inSavepoint {
                        try opening(1)
                        return .rollback
                    }
                    try? db.inSavepoint {
                        try opening(3)
                        throw Failure()
                    }
                    try db.inSavepoint {
                        try opening(5)
                        return .commit
                    }
                    #expect(try values(db) == [5, 6])
                    return .rollback
                }
                #expect(try values(db) == [])
                return .commit
            }
        }
    }

    @Test func nestedSavepointTakesBackItsOwnChanges() throws {
        try withTable { db throws in
            let sql = try emitted(db) {
                try db.inTransaction {
                    try insert(1, db)
                    try db.inSavepoint {
                        try insert(2, db)
                        return .commit
                    }
                    try db.inSavepoint {
                        try insert(3, db)
                        return .rollback
                    }
                    #expect(throws: Failure.self) {
                        try db.inSavepoint {
                            try insert(4, db)
                            throw Failure()
                        }
                    }
                    #expect(db.isInsideTransaction)
                    return .commit
                }
            }
            #expect(
                sql == [
                    "BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (1)",
                    "SAVEPOINT quarry", "INSERT INTO t VALUES (2)", "RELEASE SAVEPOINT quarry",
                    "SAVEPOINT quarry", "INSERT INTO t VALUES (3)",
                    "ROLLBACK TRANSACTION TO SAVEPOINT quarry", "RELEASE SAVEPOINT quarry",
                    "SAVEPOINT quarry", "INSERT INTO t VALUES (4)",
                    "ROLLBACK TRANSACTION TO SAVEPOINT quarry", "RELEASE SAVEPOINT quarry",
                    "COMMIT TRANSACTION",
                ])
            #expect(try values(db) == [1, 2])
        }
    }

    @Test func randomTreesAgreeWithAModel() throws {
        var random = SeededGenerator()
        print("SavepointTests.randomTrees seed: \(random.seed)")
        try withTable { db throws in
            var next = 0
            /// Runs a savepoint with random contents; gives what it keeps.
            func savepoint(_ depth: Int) throws -> [Int] {
                var kept: [Int] = []
                let outcome = Int.random(in: 0..<3, using: &random)
                do {
                    try db.inSavepoint {
                        for _ in 0..<Int.random(in: 0..<4, using: &random) {
                            if depth < 6, Bool.random(using: &random) {
                                kept += try savepoint(depth + 1)
                            } else {
                                next += 1
                                try insert(next, db)
                                kept.append(next)
                            }
                        }
                        if outcome == 0 { throw Failure() }
                        return outcome == 1 ? .rollback : .commit
                    }
                } catch is Failure {}
                return outcome == 2 ? kept : []
            }
            var expected: [Int] = []
            for _ in 0..<500 {
                expected += try savepoint(0)
                #expect(!db.isInsideTransaction)
            }
            #expect(try values(db) == expected.sorted(), "seed \(random.seed)")
        }
    }

    @Test func manualSavepointsNest() throws {
        try withTable { db throws in
            try db.execute(sql: "SAVEPOINT mine")
            #expect(db.isInsideTransaction)
            try insert(1, db)
            try db.inSavepoint {
                try insert(2, db)
                return .rollback
            }
            try db.execute(sql: "RELEASE mine")
            try db.beginTransaction()
            try db.inSavepoint {
                try insert(3, db)
                return .commit
            }
            try db.commit()
            #expect(try values(db) == [1, 3])
        }
    }

    @Test func savepointOfTheSameNameIsTheUsers() throws {
        try withTable { db throws in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "SAVEPOINT quarry; INSERT INTO t VALUES (1); RELEASE quarry")
                    return .rollback
                }
                return .commit
            }
            #expect(try values(db) == [])
        }
    }

    @Test func rollbackInsideMakesTheReleaseFail() throws {
        try withTable { db throws in
            expectError(.SQLITE_ABORT, "Transaction was aborted", sql: "RELEASE SAVEPOINT quarry") {
                try db.beginTransaction()
                try db.inSavepoint {
                    try db.rollback()
                    return .commit
                }
            }
        }
    }

    @Test func savepointsReadInReadOnlyConnections() throws {
        try withTable { db throws in
            try db.readOnly { () throws in
                let sql = try emitted(db) {
                    try db.inSavepoint {
                        try db.inSavepoint { .rollback }
                        return .commit
                    }
                }
                #expect(sql.first == "BEGIN DEFERRED TRANSACTION")
                expectError(.SQLITE_READONLY) {
                    try db.inSavepoint {
                        try insert(1, db)
                        return .commit
                    }
                }
            }
        }
    }

    /// FTS5 holds a blob open between statements, which keeps an interruption alive.
    @Test(arguments: [false, true]) func rollbackAfterAnInterruption(fails: Bool) throws {
        try withTable { db throws in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('a b'), ('c d'), ('e f')")
            try db.inTransaction {
                try insert(1, db)
                let change = {
                    try db.inSavepoint {
                        try insert(2, db)
                        try db.execute(
                            sql: "DELETE FROM docs WHERE rowid = 2; UPDATE docs SET body = 'g' WHERE rowid = 1")
                        db.interrupt()
                        if fails { throw Failure() }
                        return .rollback
                    }
                }
                if fails { #expect(throws: Failure.self, performing: change) } else { try change() }
                #expect(try values(db) == [1])
                #expect(try String.fetchAll(db, sql: "SELECT body FROM docs") == ["a b", "c d", "e f"])
                return .commit
            }
            #expect(try values(db) == [1])
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM docs WHERE docs MATCH 'a OR c OR g'") == [1, 2])
        }
    }
}
