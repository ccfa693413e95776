import QuarryClusterWire
import QuarryCore

/// The beginning of transactions.
extension ClusterSession {
    /// Runs a query as the first statement of the transaction that is about to begin, or in one of its own. BEGIN, the
    /// version of the schema and the query are sent at once.
    func beginAndQuery(
        _ sql: String, _ arguments: [WireValue], _ call: RemoteCall
    ) throws(DatabaseError) -> SessionRows {
        let (begin, isOwn): (String, Bool) =
            if case .pending(let begin) = transaction { (begin, false) } else { ("BEGIN", true) }
        return try beginning(call) { link, limit throws(LinkError) in
            let beginning = beginningRequests(begin)
            let (run, behind) = requests(sql, arguments, returnsRows: true)
            var requests = beginning.requests + run
            if isOwn { requests.append(.executeSQL(database: databaseID, sql: "COMMIT", arguments: [])) }
            try send(requests, by: link, until: limit)
            let begun = try receive(by: link, until: limit)
            let version = try receive(by: link, until: limit)
            let entry = try receiveEntry(beginning, by: link, until: limit)
            let response = try receive(by: link, until: limit)
            owed += behind + (isOwn ? [.end] : [])
            if case .failure = begun {
                // The query ran outside a transaction, and has read something or other.
                if case .rows(let page) = response, page.hasMore { discardPages() }
                try LeaderAnswer.expectResult(begun, link)
            }
            if !isOwn { try didBegin(beginning, entry, link) }
            if try takeVersion(version, link) {
                if case .rows(let page) = response, page.hasMore { try skipPages(link, until: limit) }
                try refreshNode(link, until: limit)
                if isOwn { return nil }
                let (again, behind) = self.requests(sql, arguments, returnsRows: true)
                try send(again, by: link, until: limit)
                let response = try receive(by: link, until: limit)
                owed += behind
                return try rows(response, link)
            }
            return try rows(response, link)
        }
    }

    /// Begins the transaction that is pending.
    func beginIfPending(_ call: RemoteCall) throws(DatabaseError) {
        guard case .pending(let begin) = transaction else { return }
        try beginning(call) { link, limit throws(LinkError) in
            // The program's change isn't sent behind BEGIN: it would run outside a transaction if BEGIN failed.
            let beginning = beginningRequests(begin)
            try send(beginning.requests, by: link, until: limit)
            let begun = try receive(by: link, until: limit)
            let version = try receive(by: link, until: limit)
            let entry = try receiveEntry(beginning, by: link, until: limit)
            try LeaderAnswer.expectResult(begun, link)
            try didBegin(beginning, entry, link)
            if try takeVersion(version, link) { try refreshNode(link, until: limit) }
            return ()
        }
    }

    /// BEGIN has succeeded.
    ///
    /// - parameter entry: the answer to the identifier; nil if none was sent.
    private func didBegin(
        _ beginning: BeginningRequests, _ entry: Response?, _ link: NodeLink
    ) throws(LinkError) {
        var identifier: CommitIdentifier?
        switch entry {
        case nil: break
        case .result: identifier = beginning.identifier
        case .failure(1, let message) where message.contains("no such table"):
            // The program has dropped the table. COMMIT creates it.
            break
        case .failure(let code, let message):
            // The node may have ended the transaction, as it does when its disk is full.
            dropLink()
            throw .failed(link.address, code: code, message: message)
        case let response?: throw link.violation("it responded to a statement with \(response.name).")
        }
        transaction = .open
        (hasWritten, hasChangedSchema) = (false, false)
        identifierOfTransaction = identifier
        knowsVersionOfTransaction = false
    }

    /// The requests that begin a transaction: BEGIN, the version of the schema, and the identifier of a transaction
    /// that is to write.
    ///
    /// If BEGIN fails, the identifier may be written outside a transaction. That does no harm: it is never asked for.
    private func beginningRequests(_ begin: String) -> BeginningRequests {
        let database = databaseID
        var result = BeginningRequests(requests: [
            .executeSQL(database: database, sql: begin, arguments: []),
            .querySQL(database: database, sql: "PRAGMA schema_version", arguments: []),
        ])
        guard settings.keepsCommitJournal, begin.hasPrefix("BEGIN IMMEDIATE") else { return result }
        let identifier = CommitIdentifier(time: settings.wallClock())
        let (entry, behind) = requests(CommitIdentifier.insertion, identifier.key, returnsRows: false)
        result.requests += entry
        (result.identifier, result.behind) = (identifier, behind)
        return result
    }

    /// Receives the answer to the identifier, if one was sent.
    private func receiveEntry(
        _ beginning: BeginningRequests, by link: NodeLink, until limit: UInt64
    ) throws(LinkError) -> Response? {
        guard beginning.identifier != nil else { return nil }
        let response = try receive(by: link, until: limit)
        owed += beginning.behind
        return response
    }

    /// Runs `body` until it succeeds: with a new link when one is lost, and again while another client writes. Nothing
    /// of the transaction has been acknowledged yet.
    ///
    /// - parameter body: returns nil to be run again.
    func beginning<T>(
        _ call: RemoteCall, _ body: (_ link: NodeLink, _ limit: UInt64) throws(LinkError) -> T?
    ) throws(DatabaseError) -> T {
        let initial = transaction
        let (connectEnd, busyEnd) = (now &+ settings.connectTimeout, now &+ settings.busyTimeout)
        var backoff: UInt64 = 1_000_000
        while true {
            var link: NodeLink?
            do throws(LinkError) {
                let opened = try openLink(until: min(call.deadline, connectEnd))
                link = opened
                if let result = try body(opened, limit(call)) { return result }
            } catch {
                guard let link, !error.isFinal else { throw failure(error, of: link) }
                if case .failed(_, let code, _) = error, !LinkError.lostLeaderCodes.contains(code) {
                    // Another client writes, or the statement is at fault.
                    guard code & 0xFF == 5, transaction == initial, now < min(busyEnd, call.deadline) else {
                        throw failure(error, of: link)
                    }
                    let pause = UInt64.random(in: backoff / 2...backoff)
                    backoff = min(backoff * 2, 50_000_000)
                    if case .woken = waker.wait(until: min(now &+ pause, call.deadline)) {
                        throw failure(.interrupted, of: link)
                    }
                } else {
                    didLose(link, error)
                    transaction = initial
                    guard now < min(call.deadline, connectEnd) else { throw failure(error, of: nil) }
                }
            }
        }
    }

    func begin(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        try checkTransaction(call)
        transaction = .pending(sql)
        hasWritten = false
        knowsVersionOfTransaction = false
    }

    /// Rolls back a transaction that the shadow no longer has. Throws if the shadow has one that was lost with its link
    /// where no statement has told: while unwanted rows were skipped, say. The statement would run, and be committed,
    /// on its own.
    func checkTransaction(_ call: RemoteCall) throws(DatabaseError) {
        if !call.isInsideTransaction, transaction != .none { rollback() }
        if call.isInsideTransaction, transaction == .none { throw lostError("The connection was lost.") }
    }

    /// Runs a change in a transaction of its own, so that its outcome can be learned.
    func inOwnTransaction<T>(
        _ call: RemoteCall, _ body: () throws(DatabaseError) -> T
    ) throws(DatabaseError) -> T {
        transaction = .pending("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try beginIfPending(call)
            var result: Result<T, DatabaseError>
            do throws(DatabaseError) {
                result = .success(try body())
            } catch {
                guard try hasKeptRows(after: error, call) else { throw error }
                result = .failure(error)
            }
            try commit("COMMIT", call)
            return try result.get()
        } catch {
            rollback()
            throw error
        }
    }

    /// Whether a statement that has failed keeps the rows before the one at fault, as `ON CONFLICT FAIL` does:
    /// <https://www.sqlite.org/lang_conflict.html>.
    private func hasKeptRows(after error: DatabaseError, _ call: RemoteCall) throws(DatabaseError) -> Bool {
        guard error.resultCode == .SQLITE_CONSTRAINT, transaction == .open else { return false }
        let rows = try queryInTransaction("SELECT changes()", [], isReadonly: true, call)
        defer { rows.close() }
        var count: Int64 = 0
        if try rows.next() { rows.withValue(0) { if case .integer(let value) = $0 { count = value } } }
        return count > 0
    }
}

/// The beginning of a transaction, as it is sent.
private struct BeginningRequests {
    var requests: [Request]

    /// The identifier that the last requests write; nil if none does.
    var identifier: CommitIdentifier?

    /// The answers that follow that to the identifier.
    var behind: [ClusterSession.Owed] = []
}
