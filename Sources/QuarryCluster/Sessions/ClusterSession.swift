import QuarryClusterWire
import QuarryCore

/// A session at the leader: the other end of one connection. It outlives its links: a link that is lost outside a
/// transaction is replaced unseen.
///
/// ```
/// none ──begin──▶ pending ──first statement──▶ open ──commit, rollback──▶ none
///                    └─────commit, rollback──────────────────────────────▶
/// ```
///
/// BEGIN is sent with the first statement, so that a read takes one round trip. Until the node has answered that, a
/// lost link costs a new one. From then on it costs the transaction.
final class ClusterSession: @unchecked Sendable {
    // Sendable: the thread that has the connection uses it, but for `interrupt()`, which uses the waker alone.

    enum Transaction: Equatable {
        case none
        /// It begins with the next statement.
        case pending(String)
        case open
    }

    /// The answers that are still to come for requests whose sender didn't wait.
    enum Owed: Equatable {
        /// Of a COMMIT or ROLLBACK of a transaction that has written nothing.
        case end
        case prepared(String)
        case finalized
        /// Of a question about a statement that has failed.
        case ignored
    }

    let settings: SessionSettings
    let isReader: Bool
    private let finder: LeaderFinder
    let waker: Waker

    var link: NodeLink?
    var databaseID: UInt32 = 0
    var owed: [Owed] = []
    var prepared = PreparedStatements()
    var streaming: SessionRows?

    var transaction = Transaction.none

    /// Whether the open transaction has changed anything, so that its COMMIT counts.
    var hasWritten = false

    /// Whether the open transaction has changed the schema, so that its rollback does so, too.
    var hasChangedSchema = false

    /// The identifier that was written behind the open transaction's BEGIN.
    var identifierOfTransaction: CommitIdentifier?

    /// The number of identifiers that this session has written.
    var commitCount = 0

    /// Whether the open transaction has told the version of its schema.
    var knowsVersionOfTransaction = false

    /// The version of the schema for which the node has prepared the session's statements; nil on a new link.
    var versionOfLink: Int64?

    private(set) var schemaVersion: Int64?
    var lastInsertedRowID: Int64 = 0
    var changes = RemoteChanges()

    /// Whether foreign keys are enforced. A new link is told.
    var checksForeignKeys = true

    init(_ finder: LeaderFinder, _ settings: SessionSettings, isReader: Bool) throws(LinkError) {
        self.finder = finder
        self.settings = settings
        self.isReader = isReader
        waker = try Waker(settings.clock)
    }

    var isInsideTransaction: Bool { transaction != .none }

    var reportsScans: Bool { settings.onScan != nil }

    func willScan(_ tables: [String], sql: String) { settings.onScan?(ClusterScan(sql: sql, tables: tables)) }

    // MARK: - Links

    func willCall() { waker.clear() }

    func interrupt() { waker.wake() }

    func close() {
        transaction = .none
        dropLink()
    }

    /// Ends the link. The node rolls back what is open.
    func dropLink() {
        identifierOfTransaction = nil
        link?.close()
        link = nil
        owed.removeAll()
        prepared = PreparedStatements()
        streaming?.linkDidEnd()
        streaming = nil
        versionOfLink = nil
        if transaction == .open { transaction = .none }
        knowsVersionOfTransaction = false
    }

    /// The link breaks the protocol.
    func fail(_ reason: String) {
        if let link { _ = link.violation(reason) }
        dropLink()
    }

    /// The link, opened if there is none.
    ///
    /// - parameter deadline: of the search for the leader.
    func openLink(until deadline: UInt64) throws(LinkError) -> NodeLink {
        if let link, !link.isDead { return link }
        dropLink()
        let limit = min(deadline, now &+ settings.connectTimeout)
        let (link, database) = try finder.openLeader(
            database: settings.database, clientID: settings.clientID, until: limit, waker: waker)
        (self.link, databaseID) = (link, database)
        do throws(LinkError) {
            // Makes the node enlarge its buffer once: version 1.11.1 writes beyond a buffer of one page when the types
            // of a wide row meet its end.
            var requests: [Request] = [.querySQL(database: database, sql: "SELECT zeroblob(4096)", arguments: [])]
            if !checksForeignKeys {
                requests.append(.executeSQL(database: database, sql: "PRAGMA foreign_keys = OFF", arguments: []))
            }
            try link.send(requests, until: limit)
            try skipPages(link, until: limit)
            if !checksForeignKeys { try LeaderAnswer.expectResult(try link.receive(until: limit), link) }
            return link
        } catch {
            didLose(link, error)
            throw error
        }
    }

    /// A link has failed, or its node isn't the leader any longer.
    func didLose(_ link: NodeLink, _ error: LinkError) {
        if error != .interrupted { finder.leaderFailed(link.address) }
        if self.link === link { dropLink() } else { link.close() }
    }

    var now: UInt64 { waker.clock.now }

    /// The time until which an answer is waited for.
    func limit(_ call: RemoteCall) -> UInt64 { min(call.deadline, now &+ settings.statementTimeout) }

    /// Sends requests; before that, receives what is still to come.
    func send(_ requests: [Request], by link: NodeLink, until deadline: UInt64) throws(LinkError) {
        streaming?.readAhead()
        streaming = nil
        if link.isDead { _ = try link.receive(until: 0) }
        try link.send(requests, until: deadline)
    }

    /// The answer to the oldest request that is waited for.
    func receive(by link: NodeLink, until deadline: UInt64) throws(LinkError) -> Response {
        while !owed.isEmpty {
            let kind = owed.removeFirst()
            let response = try link.receive(until: deadline)
            switch (kind, response) {
            case (.prepared(let sql), .statement(_, let id, _)): prepared.didPrepare(sql, id: id)
            case (.prepared(let sql), .failure): prepared.didPrepare(sql, id: nil)
            case (.end, .failure(let code, let message)):
                // Any other failure leaves the state of the session's transaction unknown.
                guard LinkError.lostLeaderCodes.contains(code) else { throw .closed(link.address) }
                throw .failed(link.address, code: code, message: message)
            default: break
            }
        }
        return try link.receive(until: deadline)
    }

    // MARK: - The version of the schema

    /// Takes the version from the answer to `PRAGMA schema_version`.
    ///
    /// - returns: whether the node's statements of this session are of another version.
    func takeVersion(_ response: Response, _ link: NodeLink) throws(LinkError) -> Bool {
        guard case .rows(let page) = response else {
            if case .failure(let code, let message) = response {
                throw .failed(link.address, code: code, message: message)
            }
            throw link.violation("it responded to a query with \(response.name).")
        }
        var reader = page.makeReader()
        do {
            guard try reader.next() else { throw link.violation("PRAGMA schema_version has no row.") }
        } catch let error as LinkError {
            throw error
        } catch {
            throw link.violation("\(error)")
        }
        let version = reader.cells[0].integer
        defer { versionOfLink = version }
        schemaVersion = version
        knowsVersionOfTransaction = transaction != .none
        return versionOfLink != nil && versionOfLink != version
    }

    /// Makes the node read the schema again: the first answer of a statement that was prepared for another schema has
    /// that schema's columns.
    func refreshNode(_ link: NodeLink, until deadline: UInt64) throws(LinkError) {
        let ids = prepared.removeAll()
        let database = databaseID
        try send(
            [.querySQL(database: database, sql: "SELECT count(*) FROM sqlite_schema", arguments: [])]
                + ids.map { .finalize(database: database, statement: $0) }, by: link, until: deadline)
        _ = try receive(by: link, until: deadline)
        owed += ids.map { _ in .finalized }
    }

    /// The schema was changed by this session, or a change was rolled back: the node would answer the next run of its
    /// statements with the names of the columns that they had before.
    func schemaDidChange() {
        guard let link, !link.isDead else { return }
        let ids = prepared.removeAll()
        guard !ids.isEmpty else { return }
        let database = databaseID
        do throws(LinkError) {
            try send(ids.map { .finalize(database: database, statement: $0) }, by: link, until: now &+ 1_000_000_000)
            owed += ids.map { _ in .finalized }
        } catch {
            didLose(link, error)
        }
    }

    // MARK: - Pages

    /// The next page of the running query.
    ///
    /// - parameter columnCount: the number of columns of its first page.
    func receivePage(columnCount: Int) throws(DatabaseError) -> RowPage {
        guard let link else { throw lostError("The rest of the rows was lost.") }
        do throws(LinkError) {
            switch try link.receive(until: now &+ settings.statementTimeout) {
            case .rows(let page):
                try link.expect(page, columnCount: columnCount)
                var reader = page.makeReader()
                if page.hasMore, (try? reader.next()) != true {
                    throw link.violation("it sends pages without rows, and announces more.")
                }
                return page
            case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
            case let response: throw link.violation("it responded to a query with \(response.name).")
            }
        } catch {
            throw failure(error, of: link)
        }
    }

    /// The running query has sent its last page.
    func streamDidEnd() { streaming = nil }

    /// Reads the rest of the pages of the running query and forgets them.
    func discardPages() {
        guard let link else { return }
        streaming = nil
        var pageCount = 0
        do throws(LinkError) {
            while true {
                guard case .rows(let page) = try link.receive(until: now &+ settings.statementTimeout), page.hasMore
                else { return }
                pageCount += 1
                // Nothing is lost with a link outside a transaction.
                if transaction == .none, pageCount == settings.maximumDiscardedPageCount { return dropLink() }
            }
        } catch {
            didLose(link, error)
        }
    }
}

/// The settings that the sessions of a cluster share.
struct SessionSettings: Sendable {
    var database: String
    var clientID: UInt64
    /// Nanoseconds for finding the leader and opening the database.
    var connectTimeout: UInt64
    /// Nanoseconds for an answer.
    var statementTimeout: UInt64
    /// Nanoseconds for another client's write to end.
    var busyTimeout: UInt64
    /// Nanoseconds for learning whether a COMMIT whose answer was lost has taken place.
    var settlementTimeout: UInt64
    /// Whether each write keeps an identifier in the database.
    var keepsCommitJournal: Bool
    /// Microseconds since 1970.
    var wallClock: @Sendable () -> Int64
    /// The clock of deadlines and waits.
    var clock: MonotonicClock
    /// Is told of statements that scan tables.
    var onScan: (@Sendable (ClusterScan) -> Void)?
    /// Unread pages of rows after which a new link is cheaper.
    var maximumDiscardedPageCount = 256
}
