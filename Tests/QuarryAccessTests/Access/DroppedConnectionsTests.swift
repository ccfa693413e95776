import Foundation
import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Idle connections that one thread closes while another closes the database.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct DroppedConnectionsTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("a.sqlite")
    }

    /// Calls a closure when the connection that has it is closed.
    private final class ClosingNote: Sendable {
        private let whenClosing: @Sendable () -> Void
        init(_ whenClosing: @escaping @Sendable () -> Void) { self.whenClosing = whenClosing }
        deinit { whenClosing() }
    }

    private func configuration(whenClosingReader: @escaping @Sendable () -> Void) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { db in
            guard db.configuration.readonly else { return }
            let note = ClosingNote(whenClosingReader)
            db.add(function: DatabaseFunction("note", argumentCount: 0) { _ in withExtendedLifetime(note) { 1 } })
        }
        return configuration
    }

    /// The reader is taken out of its slot, and its thread is about to close it.
    @Test(arguments: ["window", "close", "blockade", "pool"]) func closingWaits(_ kind: String) async throws {
        let (isClosing, mayClose) = (Step("a reader closes"), Step("the reader may close"))
        let order = Recorded<[String]>([])
        let configuration = configuration {
            isClosing.reach()
            try? mayClose.wait()
            order.update { $0.append("reader") }
        }
        let database = SharedDatabase(path: path, configuration: configuration)
        let pool = kind == "pool" ? try DatabasePool(path: path, configuration: configuration) : database.pool
        _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT note()") }
        let releasing = OwnThread { _ = pool.releaseIdle(.readers) }
        try await isClosing.reached()
        let closing = OwnThread {
            switch kind {
            case "window": try database.withClosedDatabase { _ in order.update { $0.append("closed") } }
            case "close":
                try database.close()
                order.update { $0.append("closed") }
            case "pool":
                try pool.close()
                order.update { $0.append("closed") }
            default:
                let blockade = try database.blockade()
                order.update { $0.append("closed") }
                blockade.end()
            }
        }
        try await until("the closing has all barriers") {
            pool.groups.allSatisfy { $0.state.withLock { $0.machine.hasBarrier } }
        }
        mayClose.reach()
        try await closing.value
        try await releasing.value
        #expect(order.value == ["reader", "closed"])
    }

    /// Calls a closure when a connection was closed.
    private final class UsingTracer: DatabaseTracer {
        let options = DatabaseTracing.Options(.connections)
        private let body: @Sendable (DatabaseTraceEvent.Connection) -> Void

        init(_ body: @escaping @Sendable (DatabaseTraceEvent.Connection) -> Void) { self.body = body }

        func receive(_ event: DatabaseTraceEvent) {
            if case .connectionClosed(let connection) = event { body(connection) }
        }
    }

    /// A tracer that is told of the closing uses the database, on the thread that closes, while a window is open.
    @Test func tracersUseTheDatabase() async throws {
        let windowIsOpen = Step("the window is open")
        let count = Recorded<Int?>(nil)
        let database = SharedDatabase(path: path)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        _ = try await database.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        let isTold = Step("the tracer is told")
        database.addTracer(
            UsingTracer { connection in
                guard connection.role == .reader, count.value == nil else { return }
                isTold.reach()
                do {
                    try windowIsOpen.wait()
                    let found = try database.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") }
                    count.update { $0 = found }
                } catch {
                    Issue.record("\(error)")
                }
            })
        let releasing = OwnThread { _ = database.releaseIdle(.readers) }
        try await isTold.reached()
        // The connection is closed, although its thread is still busy.
        let openFiles = try await database.withClosedDatabase { [folder] _ in
            windowIsOpen.reach()
            return try folder.openFiles
        }
        #expect(openFiles.isEmpty)
        try await releasing.value
        #expect(count.value == 1)
    }

    /// A snapshot that is released refuses windows until its connection is closed.
    @Test func releasedSnapshots() async throws {
        let (isClosing, mayClose) = (Step("the snapshot closes"), Step("the snapshot may close"))
        let isOnlyConnection = Recorded(false)
        let configuration = configuration {
            guard isOnlyConnection.value else { return }
            isClosing.reach()
            try? mayClose.wait()
        }
        let database = SharedDatabase(path: path, configuration: configuration)
        let snapshot = Recorded<DatabaseSnapshot?>(try database.makeSnapshot(label: "a report"))
        try await database.closeAsync()
        isOnlyConnection.update { $0 = true }
        let releasing = OwnThread { snapshot.update { $0 = nil } }
        try await isClosing.reached()
        _ = try await onOwnThread { [path] in
            expectError(.SQLITE_BUSY, "unable to close \(path): “a report” reads it") {
                try database.withClosedDatabase { _ in Issue.record("it is open") }
            }
        }
        mayClose.reach()
        try await releasing.value
        let openFiles = try await database.withClosedDatabase { [folder] _ in try folder.openFiles }
        #expect(openFiles.isEmpty)
    }

    /// Readers are invalidated while a barrier has them, by the access of the barrier and by another thread.
    @Test(arguments: [true, false]) func invalidatingBesideABarrier(_ isInside: Bool) async throws {
        let pool = try DatabasePool(path: path)
        let isInvalidated = Step("the readers are invalidated")
        try await pool.read { _ in }
        #expect(pool.readers.group.connectionCount == 1)
        try await onOwnThread {
            try pool.barrierWriteWithoutTransaction { db in
                if isInside {
                    pool.invalidateReadOnlyConnections()
                } else {
                    _ = OwnThread {
                        pool.invalidateReadOnlyConnections()
                        isInvalidated.reach()
                    }
                    try isInvalidated.wait()
                }
                try db.execute(sql: "CREATE TABLE t (a)")
            }
        }
        #expect(pool.readers.group.connectionCount == 0)
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
        #expect(pool.readers.group.connectionCount == 1)
        try pool.close()
        #expect(try folder.openFiles.isEmpty)
    }

    /// The last reference closes the connections, also while another thread walks through all databases.
    @Test(arguments: WriterKind.allCases) func releasedDatabasesOfAWalk(_ kind: WriterKind) async throws {
        var database: (any DatabaseWriter)? = try kind.make(folder)
        try database?.makeTable(1, 2)
        #expect(try await database?.read { db in try db.values() } == [1, 2])
        let path = folder.file("\(kind.rawValue).sqlite")
        let writers = LiveDatabases.writers.filter { $0.source.path == path }
        #expect(writers.count == (kind == .memoryQueue ? 0 : 1))
        database = nil
        // A moment later if another test empties the idle connections of all databases now.
        try await until("the connections are closed") {
            !FileManager.default.fileExists(atPath: path + "-wal")
                && writers.allSatisfy { writer in
                    !writer.group.hasOpenConnection && !(writer.group.barredGroup?.hasOpenConnection ?? false)
                }
        }
    }

    /// A statement of the program keeps a reader open that was idle.
    @Test func statementsOfIdleConnections() throws {
        let database = SharedDatabase(path: path)
        let message = "unable to close a reader of \(path): unfinalized statements keep a connection open that was idle"
        do {
            let statement = try database.read { db in try db.makeStatement(sql: "SELECT 1") }
            #expect(database.releaseIdle(.readers).closedConnections == 1)
            expectError(.SQLITE_BUSY, message) { try database.close() }
            expectError(.SQLITE_BUSY, message) { try database.withClosedDatabase { _ in Issue.record("it is open") } }
            #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT 2") } == 2)
            _ = consume statement
        }
        #expect(try database.withClosedDatabase { _ in try folder.openFiles }.isEmpty)
    }

    /// A closure that is called while a connection is closed may close the database on that thread.
    @Test func closingWhileAConnectionCloses() async throws {
        let database = Recorded<SharedDatabase?>(nil)
        let hasClosed = Recorded(false)
        let configuration = configuration {
            guard !hasClosed.value else { return }
            hasClosed.update { $0 = true }
            do { try database.value?.close() } catch { Issue.record("\(error)") }
        }
        let shared = SharedDatabase(path: path, configuration: configuration)
        database.update { $0 = shared }
        _ = try await shared.read { db in try Int.fetchOne(db, sql: "SELECT note()") }
        try await onOwnThread { _ = shared.releaseIdle(.readers) }
        #expect(hasClosed.value && !shared.isOpened)
        #expect(try await shared.read { db in try Int.fetchOne(db, sql: "SELECT note()") } == 1)
        database.update { $0 = nil }
    }
}
