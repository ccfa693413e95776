import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct BackupTests {
    /// Two connections in accesses of their own: the source has a table of `count` rows of a page each.
    private func withPair(
        count: Int = 50, source: String = ":memory:", destination: String = ":memory:",
        sourceToken: AccessToken? = nil, _ body: (Database, Database) throws -> Void
    ) throws {
        var options = ConnectionOptions()
        options.busyMode = .immediateError
        let (source, destination) = (
            try TestConnection(path: source, options: options), try TestConnection(path: destination, options: options)
        )
        try source.access(sourceToken) { source in
            try source.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                    INSERT INTO t (a) SELECT zeroblob(3900) FROM c;
                    """, arguments: [count])
            try destination.access { try body(source, $0) }
        }
    }

    private func count(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }

    @Test func backupReplacesTheDestination() throws {
        try withPair { (source, destination) throws in
            try destination.execute(sql: "CREATE TABLE old (a)")
            let statement = try destination.makeStatement(sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'old'")
            #expect(try Int.fetchOne(statement) == 1)
            try source.backup(to: destination)
            #expect(try count(destination) == 50)
            #expect(try Int.fetchOne(statement) == 0)
            #expect(try String.fetchOne(destination, sql: "PRAGMA integrity_check") == "ok")
            #expect(try source.serialize().dropFirst(100) == destination.serialize().dropFirst(100))
        }
    }

    @Test func copiesAnEmptyDatabase() throws {
        let (source, destination) = (try TestConnection(), try TestConnection())
        try source.access { source in
            try destination.access { destination in
                try destination.execute(sql: "CREATE TABLE old (a)")
                var states: [Bool] = []
                try source.backup(to: destination) { states.append($0.isCompleted) }
                #expect(states == [true])
                #expect(try Int.fetchOne(destination, sql: "SELECT COUNT(*) FROM sqlite_master") == 0)
            }
        }
    }

    @Test func betweenFiles() throws {
        try withTemporaryFolder { folder in
            try withPair(source: folder + "/source", destination: folder + "/destination") {
                (source, destination) throws in
                try source.execute(sql: "PRAGMA journal_mode = WAL; INSERT INTO t (a) VALUES (1)")
                try source.backup(to: destination)
                #expect(try count(destination) == 51)
            }
        }
    }

    @Test func progressIsReportedAfterEachStep() throws {
        try withPair { (source, destination) throws in
            var states: [DatabaseBackupProgress] = []
            try source.backup(to: destination, pagesPerStep: 20) { states.append($0) }
            let total = try #require(try Int.fetchOne(source, sql: "PRAGMA page_count"))
            #expect(total > 40)
            #expect(states.map(\.totalPageCount) == Array(repeating: total, count: states.count))
            #expect(states.map(\.completedPageCount) == Array(stride(from: 20, to: total, by: 20)) + [total])
            #expect(states.map(\.remainingPageCount) == states.map { total - $0.completedPageCount })
            #expect(states.map(\.isCompleted) == Array(repeating: false, count: states.count - 1) + [true])
        }
    }

    @Test func throwingProgressEndsTheBackup() throws {
        try withPair { (source, destination) throws in
            try destination.execute(sql: "CREATE TABLE old (a)")
            var calls = 0
            #expect(throws: PlainError.self) {
                try source.backup(to: destination, pagesPerStep: 10) { _ in
                    calls += 1
                    if calls == 2 { throw PlainError(description: "enough") }
                }
            }
            #expect(calls == 2)
            // As before, and usable.
            #expect(try String.fetchAll(destination, sql: "SELECT name FROM sqlite_master") == ["old"])
            try destination.execute(sql: "INSERT INTO old VALUES (1)")
            try source.backup(to: destination)
            #expect(try count(destination) == 50)
        }
    }

    @Test(arguments: [-1, 10_000]) func errorAfterTheEndIsIgnored(_ pages: CInt) throws {
        try withPair { (source, destination) throws in
            try source.backup(to: destination, pagesPerStep: pages) { progress in
                #expect(progress.isCompleted)
                throw PlainError(description: "too late")
            }
            #expect(try count(destination) == 50)
        }
    }

    @Test func cancelledBetweenSteps() throws {
        let token = AccessToken()
        #expect(throws: CancellationError.self) {
            try withPair(sourceToken: token) { source, destination in
                try source.backup(to: destination, pagesPerStep: 20) { _ in token.cancel() }
            }
        }
    }

    /// A copy of all pages at once can be cancelled too, where it is of a transaction.
    @Test func cancelledWithoutSteps() throws {
        try withTemporaryFolder { folder in
            let token = AccessToken()
            let path = folder + "/db"
            #expect(throws: CancellationError.self) {
                try withPair(count: 1500, destination: path, sourceToken: token) { source, destination in
                    try destination.execute(sql: "CREATE TABLE old (a)")
                    try TestConnection(path: path).access { other in
                        try other.execute(sql: "BEGIN EXCLUSIVE")
                        // The first step finds a lock: a moment to cancel in.
                        _ = destination.hooks.onBusy { _ in
                            token.cancel()
                            try? other.execute(sql: "ROLLBACK")
                            return true
                        }
                        try source.inTransaction(.deferred) {
                            try source.backup(to: destination) { _ in Issue.record("complete") }
                            return .commit
                        }
                    }
                }
            }
            try withConnection(path: path) { (db) throws in
                #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == ["old"])
            }
        }
    }

    // MARK: - Errors

    @Test func impossibleBackupsAreMisuse() throws {
        try withPair { (source, destination) throws in
            expectError(.SQLITE_MISUSE) { try source.backup(to: source) }
            expectError(.SQLITE_MISUSE) { try source.backup(to: destination, pagesPerStep: 0) }
            let other = try TestConnection()
            expectError(.SQLITE_MISUSE) { try source.backup(to: other.database) }
            expectError(.SQLITE_MISUSE) { try other.database.backup(to: destination) }
        }
    }

    /// SQLite leaves undefined what happens then.
    @Test func destinationIsNotUsedMeanwhile() throws {
        try withPair { (source, destination) throws in
            let statement = try destination.makeStatement(sql: "SELECT 1")
            var messages: Set<String?> = []
            try source.backup(to: destination, pagesPerStep: 20) { _ in
                messages.insert(
                    expectError(DatabaseError.self) { try destination.execute(sql: "CREATE TABLE u (a)") }?.message)
                messages.insert(expectError(DatabaseError.self) { try statement.execute() }?.message)
                messages.insert(expectError(DatabaseError.self) { _ = try destination.serialize() }?.message)
                // The source can be used.
                try source.execute(sql: "SELECT COUNT(*) FROM t")
            }
            #expect(messages == ["The destination of a backup can't be used until the backup ends."])
            #expect(try count(destination) == 50)
        }
    }

    @Test func oneBackupAtATime() throws {
        try withPair { (source, destination) throws in
            let other = try TestConnection()
            var errors: [DatabaseError?] = []
            try source.backup(to: destination) { _ in
                errors.append(expectError(DatabaseError.self) { try other.access { try source.backup(to: $0) } })
            }
            #expect(errors.map(\.?.resultCode) == [.SQLITE_MISUSE])
            // As ever afterwards.
            try other.access { try source.backup(to: $0) }
        }
    }

    @Test func destinationInUse() throws {
        try withPair { (source, destination) throws in
            try destination.execute(sql: "CREATE TABLE old (a)")
            try destination.inTransaction(.deferred) {
                _ = try Int.fetchOne(destination, sql: "SELECT COUNT(*) FROM old")
                expectError(.SQLITE_ERROR, "backup of :memory: to :memory:: destination database is in use") {
                    try source.backup(to: destination)
                }
                return .commit
            }
        }
    }

    @Test func destinationReadOnly() throws {
        try withPair { (source, destination) throws in
            destination.trace()
            try destination.readOnly {
                _ = expectError(.SQLITE_READONLY) { try source.backup(to: destination) }
            }
        }
    }

    @Test func lockedDestinationIsBusy() throws {
        try withTemporaryFolder { folder in
            try withPair(destination: folder + "/db") { (source, destination) throws in
                try destination.execute(sql: "CREATE TABLE old (a)")
                try TestConnection(path: folder + "/db").access { other in
                    try other.execute(sql: "BEGIN EXCLUSIVE")
                    let error = expectError(.SQLITE_BUSY) { try source.backup(to: destination) }
                    #expect(error?.message?.hasPrefix("backup of :memory: to \(folder)/db: ") == true)
                    // The busy handler decides how long to try.
                    var tries: [Int] = []
                    _ = destination.hooks.onBusy {
                        tries.append($0)
                        if $0 == 2 { try? other.execute(sql: "ROLLBACK") }
                        return $0 < 5
                    }
                    try source.backup(to: destination)
                    #expect(tries == [0, 1, 2])
                    #expect(try count(destination) == 50)
                    if other.isInsideTransaction { try other.execute(sql: "ROLLBACK") }
                }
            }
        }
    }

    /// A destination that can't grow: the error is that of the destination.
    @Test func fullDestination() throws {
        try withPair { (source, destination) throws in
            try destination.execute(sql: "CREATE TABLE old (a); PRAGMA max_page_count = 10")
            expectError(.SQLITE_FULL) { try source.backup(to: destination) }
            #expect(try String.fetchAll(destination, sql: "SELECT name FROM sqlite_master") == ["old"])
        }
    }

    /// Another connection writes between two steps of a backup that isn't in a transaction.
    @Test func sourceChangesMeanwhile() throws {
        try withTemporaryFolder { folder in
            try withPair(source: folder + "/db") { (source, destination) throws in
                try TestConnection(path: folder + "/db").access { other in
                    var calls = 0
                    try source.backup(to: destination, pagesPerStep: 10) { _ in
                        calls += 1
                        if calls == 3 { try other.execute(sql: "UPDATE t SET a = 'new' WHERE id = 1") }
                    }
                    #expect(calls > 6)
                    #expect(try String.fetchOne(destination, sql: "SELECT a FROM t WHERE id = 1") == "new")
                }
            }
        }
    }

    @Test func statementsThatAreReleasedMeanwhile() throws {
        let (source, destination) = (try TestConnection(), try TestConnection())
        try source.access { source in
            try source.execute(sql: "CREATE TABLE t (a); INSERT INTO t SELECT zeroblob(40000)")
            try destination.access { destination in
                var statements: [Statement] = []
                for number in 1...100 {
                    for db in [source, destination] {
                        statements.append(try db.makeStatement(sql: "SELECT \(number)"))
                    }
                }
                var steps = 0
                try source.backup(to: destination, pagesPerStep: 1) { _ in
                    steps += 1
                    if steps == 2 { statements.removeLast(100) }
                    if steps == 3 { try onOtherThread { statements = [] } }
                }
                #expect(steps > 3)
                #expect(try count(destination) == 1)
            }
        }
        // Nothing is left: otherwise closing throws.
        for connection in [source, destination] { try connection.access { db in try db.close() } }
    }
}
