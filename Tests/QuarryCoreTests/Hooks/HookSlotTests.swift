import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct HookSlotTests {
    /// Adds two clients to a slot, and checks that both are called in order, then the second alone, then none.
    private func checkClients(
        _ db: Database, add: (HookSlots, @escaping () -> Void) throws -> HookSlots.Client, event: () throws -> Void
    ) throws {
        var calls: [String] = []
        let first = try add(db.hooks) { if calls.last != "first" { calls.append("first") } }
        let second = try add(db.hooks) { if calls.last != "second" { calls.append("second") } }
        try event()
        #expect(calls.prefix(2) == ["first", "second"])
        db.hooks.remove(first)
        db.hooks.remove(first)
        calls = []
        try event()
        #expect(calls == ["second"])
        db.hooks.remove(second)
        calls = []
        try event()
        #expect(calls == [])
    }

    private func withTable(path: String = ":memory:", _ body: (Database) throws -> Void) throws {
        try withConnection(path: path) { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            try body(db)
        }
    }

    @Test func updateHookHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onUpdate { _ in call() }
            } event: {
                try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            }
        }
    }

    @Test func preupdateHookHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                try hooks.onPreupdate { _ in call() }
            } event: {
                try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            }
        }
    }

    @Test func commitHookHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onCommit {
                    call()
                    return true
                }
            } event: {
                try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            }
        }
    }

    @Test func rollbackHookHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onRollback { call() }
            } event: {
                try db.execute(sql: "BEGIN; INSERT INTO t DEFAULT VALUES; ROLLBACK")
            }
        }
    }

    @Test func authorizerHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onAuthorization { _ in
                    call()
                    return .allow
                }
            } event: {
                _ = try db.makeStatement(sql: "PRAGMA user_version")
            }
        }
    }

    @Test func progressHandlerHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onProgress {
                    call()
                    return true
                }
            } event: {
                let count = try Int.fetchOne(
                    db,
                    sql: "WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 500) SELECT COUNT(*) FROM c")
                #expect(count == 500)
            }
        }
    }

    @Test func traceHasSeveralClients() throws {
        try withTable { (db) throws in
            try checkClients(db) { hooks, call in
                hooks.onTrace(.statements) { _ in call() }
            } event: {
                try db.execute(sql: "SELECT 1")
            }
        }
    }

    @Test func busy() throws {
        try withTemporaryFolder { folder in
            var options = ConnectionOptions()
            options.busyMode = .immediateError
            let connection = try TestConnection(path: folder + "/db", options: options)
            let other = try TestConnection(path: folder + "/db", options: options)
            try connection.access { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                try other.access { other in
                    try other.execute(sql: "BEGIN IMMEDIATE")
                    // Twice each: the second answers whether to go on.
                    try checkClients(db) { hooks, call in
                        var calls = 0
                        return hooks.onBusy { tries in
                            call()
                            calls += 1
                            return tries == 0
                        }
                    } event: {
                        expectError(.SQLITE_BUSY) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
                    }
                    try other.execute(sql: "ROLLBACK")
                }
            }
        }
    }

    // MARK: - Answers

    @Test func strictestAuthorizationCounts() throws {
        try withTable { (db) throws in
            try db.execute(sql: "INSERT INTO t VALUES (1, 'secret')")
            var answers: [HookSlots.AuthorizationAnswer] = [.allow, .allow]
            for index in 0..<2 {
                _ = db.hooks.onAuthorization { authorization in
                    // SQLITE_READ
                    guard authorization.action == 20, authorization.second.map({ String(cString: $0) }) == "a" else {
                        return .allow
                    }
                    #expect(authorization.first.map { String(cString: $0) } == "t")
                    #expect(authorization.schema.map { String(cString: $0) } == "main")
                    return answers[index]
                }
            }
            func read() throws -> DatabaseValue? {
                // A statement of its own: answers count while it is prepared.
                try DatabaseValue.fetchOne(db.makeStatement(sql: "SELECT a FROM t"))
            }
            #expect(try read() == "secret".databaseValue)
            answers = [.ignore, .allow]
            #expect(try read() == .null)
            answers = [.ignore, .deny]
            expectError(.SQLITE_AUTH) { try read() }
            answers = [.deny, .ignore]
            expectError(.SQLITE_AUTH, "access to t.a is prohibited") { try read() }
            answers = [.allow, .allow]
            #expect(try read() == "secret".databaseValue)
        }
    }

    @Test func commitVeto() throws {
        try withTable { (db) throws in
            var asked = 0
            let veto = db.hooks.onCommit { false }
            let client = db.hooks.onCommit {
                asked += 1
                return true
            }
            expectError(.SQLITE_CONSTRAINT_COMMITHOOK) { try db.execute(sql: "INSERT INTO t VALUES (1, 1)") }
            #expect(asked == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
            #expect(!db.isInsideTransaction)

            expectError(.SQLITE_CONSTRAINT_COMMITHOOK) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
                    return .commit
                }
            }
            #expect(!db.isInsideTransaction)

            db.hooks.remove(veto)
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 1)
            db.hooks.remove(client)
        }
    }

    @Test func progressStopsAStatement() throws {
        try withTable { (db) throws in
            var remaining = 3
            _ = db.hooks.onProgress {
                remaining -= 1
                return remaining > 0
            }
            expectError(.SQLITE_INTERRUPT) {
                try db.execute(sql: "WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c")
            }
        }
    }

    // MARK: - Coming and going

    @Test func clientsGoWhileTheyAreCalled() throws {
        try withTable { (db) throws in
            var calls: [String] = []
            var clients: [HookSlots.Client] = []
            clients.append(
                db.hooks.onUpdate { _ in
                    calls.append("first")
                    for client in clients { db.hooks.remove(client) }
                })
            clients.append(db.hooks.onUpdate { _ in calls.append("second") })
            try db.execute(sql: "INSERT INTO t DEFAULT VALUES; INSERT INTO t DEFAULT VALUES")
            // The second was removed before it was its turn.
            #expect(calls == ["first"])
        }
    }

    @Test func clientsComeWhileOthersAreCalled() throws {
        try withTable { (db) throws in
            var calls: [String] = []
            var isFirst = true
            let hooks = db.hooks
            _ = hooks.onCommit { [unowned hooks] in
                calls.append("first")
                if isFirst {
                    _ = hooks.onCommit {
                        calls.append("second")
                        return true
                    }
                }
                isFirst = false
                return true
            }
            try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            #expect(calls == ["first"])
            try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            #expect(calls == ["first", "first", "second"])
        }
    }

    @Test func everySlotCanBeFreedFromItsOwnCall() throws {
        try withTemporaryFolder { folder in
            try withTable(path: folder + "/db") { (db) throws in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                var calls: [String] = []
                let hooks = db.hooks
                var clients: [HookSlots.Client?] = Array(repeating: nil, count: 8)
                func called(_ index: Int, _ name: String) {
                    calls.append(name)
                    if let client = clients[index] { hooks.remove(client) }
                }
                clients[0] = hooks.onUpdate { _ in called(0, "update") }
                clients[1] = try hooks.onPreupdate { _ in called(1, "preupdate") }
                clients[2] = hooks.onCommit {
                    called(2, "commit")
                    return true
                }
                clients[3] = hooks.onRollback { called(3, "rollback") }
                clients[4] = hooks.onWAL { _, _ in called(4, "wal") }
                clients[5] = hooks.onAuthorization { _ in
                    called(5, "authorizer")
                    return .allow
                }
                clients[6] = hooks.onProgress {
                    called(6, "progress")
                    return true
                }
                clients[7] = hooks.onTrace([.statements, .profiles]) { _ in called(7, "trace") }
                let sql = """
                    INSERT INTO t (a)
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 1000) SELECT n FROM c;
                    BEGIN; DELETE FROM t; ROLLBACK;
                    """
                try db.execute(sql: sql)
                #expect(
                    calls.sorted() == [
                        "authorizer", "commit", "preupdate", "progress", "rollback", "trace", "update", "wal",
                    ])
                try db.execute(sql: sql)
                #expect(calls.count == 8)
            }
        }
    }

    /// A statement keeps its connection open, but not the clients of its hooks.
    @Test func hooksDontOutliveTheDatabase() throws {
        try withTemporaryFolder { folder in
            var statement: Statement?
            do {
                let connection = try TestConnection(path: folder + "/db")
                try connection.access { db in
                    _ = db.hooks.onRollback { Issue.record("called without a database") }
                    try db.execute(sql: "CREATE TABLE t (a)")
                    statement = try db.makeStatement(sql: "INSERT INTO t VALUES (1)")
                }
            }
            expectError(.SQLITE_MISUSE) { try statement?.execute() }
            statement = nil
        }
    }

    @Test func closingLetsClientsGo() throws {
        final class Witness {}
        weak var witness: Witness?
        let connection = try TestConnection()
        try connection.access { db in
            do {
                let kept = Witness()
                witness = kept
                _ = db.hooks.onRollback { _ = (kept, db) }
            }
            #expect(witness != nil)
            try db.close()
        }
        #expect(witness == nil)
    }

    @Test func clientsOfAClosedConnection() throws {
        let connection = try TestConnection()
        var clients: [HookSlots.Client] = []
        try connection.access { db in
            clients.append(db.hooks.onUpdate { _ in })
            clients.append(db.hooks.onTrace([.statements, .profiles]) { _ in })
            try db.close()
        }
        let hooks = connection.database.hooks
        for client in clients { hooks.remove(client) }
        hooks.remove(hooks.onCommit { true })
    }

    @Test func clientsRemoveThemselvesInTheirCallbacks() throws {
        try withTemporaryFolder { folder in
            try withTable(path: folder + "/db") { (db) throws in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                var calls: [String] = []
                func once(_ name: String, _ add: (@escaping () -> Void) throws -> HookSlots.Client) rethrows {
                    var client: HookSlots.Client?
                    client = try add {
                        calls.append(name)
                        if let client { db.hooks.remove(client) }
                    }
                }
                once("update") { call in db.hooks.onUpdate { _ in call() } }
                try once("preupdate") { call in try db.hooks.onPreupdate { _ in call() } }
                once("rollback") { call in db.hooks.onRollback(call) }
                once("wal") { call in db.hooks.onWAL { _, _ in call() } }
                once("trace") { call in db.hooks.onTrace([.statements, .profiles]) { _ in call() } }
                once("commit") { call in
                    db.hooks.onCommit {
                        call()
                        return true
                    }
                }
                once("authorizer") { call in
                    db.hooks.onAuthorization { _ in
                        call()
                        return .allow
                    }
                }
                once("progress") { call in
                    db.hooks.onProgress {
                        call()
                        return true
                    }
                }
                for _ in 1...2 {
                    try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
                        return .rollback
                    }
                    try db.execute(
                        sql: """
                            WITH c (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 10000)
                            SELECT COUNT(*) FROM c
                            """)
                }
                #expect(
                    calls.sorted() == [
                        "authorizer", "commit", "preupdate", "progress", "rollback", "trace", "update", "wal",
                    ])
            }
        }
    }
}
