import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The setups that connections share: which of them a connection runs, when, and in which order.
@Suite struct ConnectionSetupsTests {
    struct Refusal: Error, Equatable {}

    /// The names of the setups that have run, and the bodies between them.
    private let log = Recorded<[String]>([])
    private let setups = ConnectionSetups()

    @discardableResult
    private func add(_ name: String) -> ConnectionSetups.Token {
        setups.add(.atBeginning { [log] _ in log.update { $0.append(name) } })
    }

    @discardableResult
    private func addAlsoAtEnd(_ name: String) -> ConnectionSetups.Token {
        setups.add(.alsoAtEnd { [log] _, moment in log.update { $0.append("\(name) at the \(moment)") } })
    }

    private func access(_ connection: TestConnection, _ name: String) throws {
        try connection.access { _ in log.update { $0.append(name) } }
    }

    @Test func openConnectionsCatchUpAtTheirNextAccess() throws {
        let connections = [try TestConnection(setups: setups), try TestConnection(setups: setups)]
        add("one")
        add("two")
        #expect(log.value == [])
        try access(connections[0], "a")
        try access(connections[0], "b")
        add("three")
        try access(connections[0], "c")
        #expect(log.value == ["one", "two", "a", "b", "three", "c"])
        log.update { $0 = [] }
        try access(connections[1], "d")
        #expect(log.value == ["one", "two", "three", "d"])
    }

    @Test func newConnectionsRunAllSetupsWhenTheyOpen() throws {
        add("one")
        addAlsoAtEnd("two")
        let database = try Database(path: ":memory:", options: ConnectionOptions(), setups: setups) { [log] _ in
            log.update { $0.append("prepared") }
        }
        #expect(log.value == ["prepared", "one", "two at the beginning"])
        #expect(!database.hasPendingSetups)
    }

    @Test func anOpeningFailsWithItsSetup() {
        setups.add(.atBeginning { _ in throw Refusal() })
        #expect(throws: Refusal()) { try TestConnection(setups: setups) }
    }

    @Test func aSetupThatThrowsIsTriedAgain() throws {
        let connection = try TestConnection(setups: setups)
        let fails = Recorded(true)
        add("one")
        setups.add(
            .atBeginning { [log] _ in
                log.update { $0.append("two") }
                if fails.value { throw Refusal() }
            })
        add("three")
        #expect(throws: Refusal()) { try access(connection, "a") }
        #expect(log.value == ["one", "two"], "neither the body nor the later setup has run")
        #expect(!connection.database.isOwned)
        #expect(throws: Refusal()) { try access(connection, "b") }
        fails.update { $0 = false }
        try access(connection, "c")
        #expect(log.value == ["one", "two", "two", "two", "three", "c"])
    }

    @Test func anAccessThatRunsEndsWithTheSetupsThatAlsoRunAtTheEnd() throws {
        let connection = try TestConnection(setups: setups)
        try connection.access { [log] _ in
            add("one")
            addAlsoAtEnd("two")
            log.update { $0.append("a") }
        }
        #expect(log.value == ["a", "two at the end"])
        try access(connection, "b")
        #expect(log.value == ["a", "two at the end", "one", "b"], "each setup runs once")
        try access(connection, "c")
        #expect(log.value.last == "c")
        #expect(log.value.count == 5)
    }

    @Test func theEndOfAnAccessThatFailsRunsSetupsToo() throws {
        let connection = try TestConnection(setups: setups)
        #expect(throws: Refusal()) {
            try connection.access { _ in
                addAlsoAtEnd("one")
                throw Refusal()
            }
        }
        #expect(log.value == ["one at the end"])
    }

    @Test func theTransactionHasEndedBeforeTheSetupsOfTheEnd() throws {
        let connection = try TestConnection(setups: setups)
        let wasInside = Recorded<[Bool]>([])
        #expect(throws: DatabaseError.self) {
            try connection.access { db in
                setups.add(.alsoAtEnd { db, _ in wasInside.update { $0.append(db.isInsideTransaction) } })
                try db.beginTransaction()
            }
        }
        #expect(wasInside.value == [false])
    }

    @Test func anErrorAtTheEndIsLeftForTheNextAccess() throws {
        let connection = try TestConnection(setups: setups)
        let moments = Recorded<[ConnectionSetups.Moment]>([])
        try connection.access { _ in
            setups.add(
                .alsoAtEnd { _, moment in
                    moments.update { $0.append(moment) }
                    if moment == .end { throw Refusal() }
                })
        }
        #expect(moments.value == [.end])
        try access(connection, "a")
        try access(connection, "b")
        #expect(moments.value == [.end, .beginning])
    }

    @Test func aRemovedSetupReachesNoOtherConnection() throws {
        let connections = [try TestConnection(setups: setups), try TestConnection(setups: setups)]
        add("one")
        let two = add("two")
        add("three")
        try access(connections[0], "a")
        setups.remove(two)
        setups.remove(two)
        try access(connections[1], "b")
        #expect(log.value == ["one", "two", "three", "a", "one", "three", "b"])
        #expect(!connections[1].database.hasPendingSetups)
    }

    @Test func aRemovedSetupIsReleased() throws {
        let released = Recorded(false)
        let observer = ReleaseObserver { released.update { $0 = true } }
        let token = setups.add(.atBeginning { [observer] _ in withExtendedLifetime(observer) {} })
        _ = consume observer
        setups.remove(token)
        #expect(released.value)
    }

    @Test func aSetupMayAddAnother() throws {
        let connection = try TestConnection(setups: setups)
        setups.add(
            // Weak: the setups would keep a closure that keeps them.
            .atBeginning { [log, weak setups] _ in
                log.update { $0.append("one") }
                setups?.add(.atBeginning { _ in log.update { $0.append("two") } })
            })
        try access(connection, "a")
        #expect(log.value == ["one", "two", "a"])
    }

    @Test func aSetupMustNotLeaveATransactionOpen() throws {
        let connection = try TestConnection(setups: setups)
        let token = setups.add(.atBeginning { db in try db.beginTransaction() })
        let error = expectError(DatabaseError.self) { try access(connection, "a") }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "A transaction has been left open by the preparation of a connection.")
        setups.remove(token)
        try connection.access { db in #expect(!db.isInsideTransaction) }
    }

    @Test func cursorsOfASetupEndWithIt() throws {
        let connection = try TestConnection(setups: setups)
        let cursor = Recorded<UncheckedBox<RowCursor>?>(nil)
        setups.add(
            .atBeginning { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2")
                _ = try rows.next()
                cursor.update { $0 = UncheckedBox(rows) }
            })
        try connection.access { _ in
            #expect(throws: DatabaseError.self) { try cursor.value?.value.next() }
        }
    }

    @Test func closingRunsNoSetups() throws {
        let connection = try TestConnection(setups: setups)
        setups.add(.atBeginning { _ in throw Refusal() })
        try connection.database.beginClosing()
        try connection.database.close()
        #expect(connection.database.endAccess() == nil)
    }

    @Test func cancellationReachesSetups() throws {
        let connection = try TestConnection(setups: setups)
        let token = AccessToken()
        setups.add(
            .atBeginning { db in
                token.cancel()
                try db.execute(sql: "SELECT 1")
            })
        #expect(throws: CancellationError.self) { try connection.access(token) { _ in } }
        #expect(connection.database.hasPendingSetups)
    }

    @Test func aSeparateDatabaseIsPreparedWithoutThoseOfTheConnections() throws {
        add("one")
        addAlsoAtEnd("two")
        try withConnection { db in try setups.prepare(db) }
        #expect(log.value == ["one"])
    }

    // MARK: - Values

    @Test func aConnectionHasSetupsOutOfOrder() {
        var list = SetupList()
        var progress = SetupProgress()
        for _ in 1...4 { _ = list.add(.atBeginning { _ in }) }
        #expect(list.pending(progress).map(\.number) == [1, 2, 3, 4])
        progress.didRun(3)
        #expect(list.pending(progress).map(\.number) == [1, 2, 4])
        progress.didRun(1)
        #expect(list.remove(2)?.number == 2)
        #expect(list.remove(2)?.number == nil)
        #expect(list.pending(progress).map(\.number) == [4])
        #expect(progress.number == 0, "the numbers differ until all setups have run")
        progress.didRunAll(upTo: list.lastNumber)
        #expect(progress.number == 4)
        #expect(list.pending(progress).isEmpty)
        #expect(list.add(.atBeginning { _ in }) == 5)
        #expect(list.pending(progress).map(\.number) == [5])
    }
}

/// A cursor that a test hands from one closure to the next, on one thread.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // Sendable: the test runs on one thread.
    let value: Value
    init(_ value: Value) { self.value = value }
}
