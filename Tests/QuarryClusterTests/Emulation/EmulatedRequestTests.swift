import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// The answers of an emulated node, which are those of dqlite 1.11.1.
@Suite(.timeLimit(.minutes(3)))
struct EmulatedRequestTests {
    typealias Failure = WireClient.Failure

    let cluster: EmulatedCluster

    init() throws { cluster = try EmulatedCluster() }

    private func client() throws -> WireClient { try WireClient(cluster.addresses[0]) }

    @Test func handshake() throws {
        let follower = try WireClient(cluster.addresses[1], opens: false)
        #expect(try follower.call(.leader) == .server(id: 1, address: cluster.addresses[0]))
        let client = try WireClient(cluster.addresses[0], opens: false)
        #expect(try client.call(.client(id: 7)) == .welcome(heartbeatTimeout: 15_000))
        #expect(throws: Failure(code: 12, message: "no database opened")) { try client.execute("SELECT 1") }
        #expect(try client.call(.open(name: "app")) == .database(id: 0))
        #expect(throws: Failure(code: 5, message: "a database for this connection is already open")) {
            try client.call(.open(name: "app"))
        }
        let members = cluster.addresses.enumerated().map {
            ClusterMember(id: UInt64($0 + 1), address: $1, role: .voter)
        }
        #expect(try client.call(.cluster) == .servers(members))
        #expect(throws: Failure.self) { try client.call(.describe) }
    }

    @Test func aRequestThatEndsEarlyClosesTheConnection() throws {
        let client = try WireClient(cluster.addresses[0], opens: false)
        // A PREPARE whose body ends within its text.
        try client.sendBytes([1, 0, 0, 0, 4, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(client.receiveRest() == [])
    }

    @Test func preparedStatements() throws {
        let client = try client()
        try client.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)")
        let insert = try client.call(.prepare(database: 0, sql: "INSERT INTO t(name) VALUES (?)"))
        #expect(insert == .statement(database: 0, id: 0, parameterCount: 1))
        let select = try client.call(.prepare(database: 0, sql: "SELECT * FROM t WHERE id >= ? AND id <= ?"))
        #expect(select == .statement(database: 0, id: 1, parameterCount: 2))
        #expect(
            try client.call(.execute(database: 0, statement: 0, arguments: [.text("a")]))
                == .result(lastInsertedRowID: 1, changesCount: 1))
        // Parameters without an argument keep their values.
        #expect(
            try client.call(.execute(database: 0, statement: 0, arguments: []))
                == .result(lastInsertedRowID: 2, changesCount: 1))
        try client.send(.query(database: 0, statement: 1, arguments: [.integer(1), .integer(2)]))
        #expect(try client.receiveRows() == [[.integer(1), .text("a")], [.integer(2), .text("a")]])
        #expect(throws: Failure(code: 25, message: "column index out of range")) {
            try client.call(.execute(database: 0, statement: 0, arguments: [.null, .null]))
        }
        #expect(throws: Failure(code: 100, message: "another row available")) {
            try client.call(.execute(database: 0, statement: 1, arguments: []))
        }
        #expect(throws: Failure(code: 12, message: "no statement with the given id")) {
            try client.call(.execute(database: 0, statement: 2, arguments: []))
        }
        try client.call(.finalize(database: 0, statement: 0))
        #expect(
            try client.call(.prepare(database: 0, sql: "SELECT 1"))
                == .statement(database: 0, id: 0, parameterCount: 0))
        #expect(throws: Failure(code: 0, message: "empty statement")) {
            try client.call(.prepare(database: 0, sql: "-- nothing"))
        }
    }

    @Test func textsOfSeveralStatements() throws {
        let client = try client()
        #expect(try client.execute("") == .result(lastInsertedRowID: 0, changesCount: 0))
        let sql = "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); "
        #expect(try client.execute(sql) == .result(lastInsertedRowID: 2, changesCount: 2))
        // The result of BEGIN is that of the last INSERT.
        #expect(try client.execute("BEGIN; COMMIT") == .result(lastInsertedRowID: 2, changesCount: 2))
        try client.execute("INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", .integer(3))
        #expect(try client.query("SELECT a FROM t WHERE a > 2 OR a IS NULL; SELECT 5") == [[.integer(3)], [.null]])
        #expect(throws: Failure(code: 1, message: "no such table: u")) {
            try client.execute("DELETE FROM t; DELETE FROM u")
        }
        #expect(try cluster.query("SELECT count(*) FROM t") == [[.integer(0)]])
        #expect(throws: Failure(code: 1, message: "not an error")) { try client.query("BEGIN") }
    }

    @Test func extendedErrorCodes() throws {
        let client = try client()
        try client.execute("CREATE TABLE t(id INTEGER PRIMARY KEY REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
        try client.execute("INSERT INTO t VALUES (1)")
        #expect(throws: Failure(code: 1555, message: "UNIQUE constraint failed: t.id")) {
            try client.execute("INSERT INTO t VALUES (1)")
        }
        #expect(throws: Failure(code: 1, message: "near \"SELEKT\": syntax error")) { try client.query("SELEKT") }
        #expect(throws: Failure(code: 1, message: "integer overflow")) {
            try client.query("SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))")
        }
    }

    @Test func valuesByDeclaredType() throws {
        let client = try client()
        try client.execute("CREATE TABLE t(b BOOLEAN, d DATETIME, e date, f TimeStamp, g BOOL)")
        try client.execute("INSERT INTO t VALUES (5, 7, 'today', NULL, NULL)")
        try client.execute("INSERT INTO t(g) VALUES (1.5)")
        #expect(
            try client.query("SELECT * FROM t") == [
                [.boolean(5), .unixTime(7), .iso8601("today"), .iso8601(""), .null],
                [.boolean(0), .iso8601(""), .iso8601(""), .iso8601(""), .float(1.5)],
            ])
        #expect(try client.query("SELECT +b, +d FROM t") == [[.integer(5), .integer(7)], [.null, .null]])
        #expect(
            try client.query("SELECT CAST(x'610062' AS TEXT), x'0001', x''")
                == [[.text("a"), .blob([0, 1]), .blob([])]])
        #expect(
            try client.query("SELECT ?, typeof(?2), ?3, ?4", .text("é"), .blob([]), .boolean(1), .float(0.5))
                == [[.text("é"), .text("blob"), .integer(1), .float(0.5)]])
        let arguments = (0..<255).map { WireValue.integer(Int64($0)) }
        let marks = Array(repeating: "(?)", count: 255).joined(separator: ",")
        try client.send(
            .querySQL(database: 0, sql: "SELECT sum(column1) FROM (VALUES \(marks))", arguments: arguments))
        #expect(try client.receiveRows() == [[.integer(255 * 127)]])
    }

    /// Each page has 24 bytes of names and rows of 64 bytes.
    private static let threePages = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150)
        SELECT i, hex(zeroblob(20)) AS name FROM n
        """

    @Test func pagesAndPipelinedRequests() throws {
        let client = try client()
        try client.send(
            .querySQL(database: 0, sql: Self.threePages, arguments: []),
            .executeSQL(database: 0, sql: "CREATE TABLE t(a)", arguments: []),
            .querySQL(database: 0, sql: "SELECT 1 AS a WHERE 0", arguments: []))
        var sizes: [Int] = []
        var rows: [[WireValue]] = []
        for index in 0..<3 {
            let page = try client.receivePage()
            #expect(page.hasMore == (index < 2))
            #expect(try page.columnNames() == ["i", "name"])
            sizes.append(page.body.count)
            rows += try page.rows
        }
        #expect(sizes == [4128, 4128, 1440])
        #expect(rows.map(\.[0]) == (1...150).map { .integer($0) })
        #expect(try client.receive() == .result(lastInsertedRowID: 0, changesCount: 0))
        #expect(try client.receiveRows() == [])
    }

    @Test func interruptEndsTheRunningQuery() throws {
        let client = try client()
        cluster.faults.onPage = { _, page in page == 2 ? .awaitRequest : .none }
        try client.send(.querySQL(database: 0, sql: Self.threePages, arguments: []))
        let page = try client.receivePage()
        #expect(page.hasMore)
        #expect(try client.call(.interrupt(database: 0)) == .empty)
        #expect(try client.query("SELECT 1") == [[.integer(1)]])
        // Without a query, it does nothing.
        #expect(try client.call(.interrupt(database: 0)) == .empty)
    }

    @Test func interruptWaitsForTheEndAsInDqlite() throws {
        let cluster = try EmulatedCluster(nodeCount: 1, interruptsRunningQueries: false)
        let client = try WireClient(cluster.addresses[0])
        cluster.faults.onPage = { _, page in page == 2 ? .awaitRequest : .none }
        try client.send(.querySQL(database: 0, sql: Self.threePages, arguments: []), .interrupt(database: 0))
        #expect(try client.receiveRows().count == 150)
        #expect(try client.receive() == .empty)
    }

    @Test func transactionsOfTwoConnections() async throws {
        let first = try client()
        let second = try client()
        try first.execute("CREATE TABLE t(a)")
        try first.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        #expect(throws: Failure(code: 5, message: "database is locked")) { try second.execute("BEGIN IMMEDIATE") }
        #expect(throws: Failure(code: 5, message: "database is locked")) {
            try second.execute("INSERT INTO t VALUES (2)")
        }
        #expect(try first.query("SELECT a FROM t") == [[.integer(1)]])
        #expect(try second.query("SELECT a FROM t") == [])
        try second.execute("BEGIN")
        #expect(try second.query("SELECT a FROM t") == [])
        try first.execute("COMMIT")
        #expect(try second.query("SELECT a FROM t") == [])
        #expect(throws: Failure(code: 517, message: "database is locked")) { try second.execute("DELETE FROM t") }
        try second.execute("COMMIT")
        #expect(try second.query("SELECT a FROM t") == [[.integer(1)]])

        // The end of a client rolls back.
        try first.execute("BEGIN IMMEDIATE; DELETE FROM t")
        first.close()
        #expect(await cluster.connectionCountBecomes(1))
        try second.execute("INSERT INTO t VALUES (2)")
        #expect(try cluster.query("SELECT a FROM t") == [[.integer(1)], [.integer(2)]])
    }

    @Test func requestsAreLogged() throws {
        let client = try client()
        cluster.log.clear()
        try client.call(.prepare(database: 0, sql: "SELECT ?"))
        try client.send(.query(database: 0, statement: 0, arguments: [.integer(1)]))
        _ = try client.receiveRows()
        try client.execute("BEGIN")
        #expect(
            cluster.log.entries.map(\.description) == [
                "3: node 0, connection 1: PREPARE SELECT ?",
                "4: node 0, connection 1: QUERY SELECT ? [QuarryClusterWire.WireValue.integer(1)]",
                "5: node 0, connection 1: EXEC_SQL BEGIN",
            ])
        #expect(cluster.log.statements == ["SELECT ?", "BEGIN"])
    }
}
