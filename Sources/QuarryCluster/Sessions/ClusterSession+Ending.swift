import QuarryClusterWire
import QuarryCore

extension ClusterSession {
    // MARK: - Commit

    func commit(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        switch transaction {
        case .none: throw lostError("The connection was lost.")
        case .pending:
            // No statement has run, so there is nothing to tell the node.
            transaction = .none
            return
        case .open: break
        }
        // The identifier is no reason for a round of the consensus.
        guard hasWritten else { return endUnwritten(identifierOfTransaction == nil ? sql : "ROLLBACK") }
        var identifier = identifierOfTransaction
        if settings.keepsCommitJournal {
            if identifier == nil {
                let entered = CommitIdentifier(time: settings.wallClock())
                try enter(entered, call)
                identifier = entered
            }
            try pruneJournal(call)
        }
        let link = try usableLink(call)
        do throws(LinkError) {
            // Neither the access's deadline nor its cancellation ends the wait for the answer: the transaction may be
            // committed. A node that hangs doesn't answer at all, and another one settles the outcome.
            let limit = now &+ min(settings.statementTimeout, settings.settlementTimeout)
            try send([.executeSQL(database: databaseID, sql: sql, arguments: [])], by: link, until: limit)
            let response = try receive(by: link, until: limit)
            try LeaderAnswer.expectResult(response, link)
            didEnd()
        } catch {
            try commitDidFail(error, link, identifier)
        }
    }

    /// Ends a transaction that has written nothing, without waiting for the answer.
    private func endUnwritten(_ sql: String) {
        guard let link, !link.isDead else { return didEnd() }
        do throws(LinkError) {
            try send(
                [.executeSQL(database: databaseID, sql: sql, arguments: [])], by: link, until: now &+ 1_000_000_000)
            owed.append(.end)
        } catch {
            didLose(link, error)
        }
        didEnd()
    }

    private func didEnd() {
        transaction = .none
        (hasWritten, hasChangedSchema) = (false, false)
        identifierOfTransaction = nil
        knowsVersionOfTransaction = false
    }

    /// Writes the identifier of a transaction that began without one, or has lost it, as its last change.
    private func enter(_ identifier: CommitIdentifier, _ call: RemoteCall) throws(DatabaseError) {
        let link = try usableLink(call)
        do throws(LinkError) {
            let limit = limit(call)
            let database = databaseID
            let insertion = Request.executeSQL(
                database: database, sql: CommitIdentifier.insertion, arguments: identifier.key)
            try send([insertion], by: link, until: limit)
            var response = try receive(by: link, until: limit)
            if case .failure(1, let message) = response, message.contains("no such table") {
                // The program has dropped all tables.
                try send(
                    [.executeSQL(database: database, sql: CommitIdentifier.table, arguments: []), insertion],
                    by: link, until: limit)
                try LeaderAnswer.expectResult(try receive(by: link, until: limit), link)
                response = try receive(by: link, until: limit)
            }
            try LeaderAnswer.expectResult(response, link)
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    /// Removes old identifiers, once in a hundred commits.
    private func pruneJournal(_ call: RemoteCall) throws(DatabaseError) {
        commitCount += 1
        guard commitCount % CommitIdentifier.commitsPerPruning == 0 else { return }
        let link = try usableLink(call)
        do throws(LinkError) {
            let limit = limit(call)
            let bounds = CommitIdentifier.bounds(at: settings.wallClock())
            try send(
                [.executeSQL(database: databaseID, sql: CommitIdentifier.pruning, arguments: bounds)], by: link,
                until: limit)
            try LeaderAnswer.expectResult(try receive(by: link, until: limit), link)
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    private func commitDidFail(
        _ error: LinkError, _ link: NodeLink, _ identifier: CommitIdentifier?
    ) throws(DatabaseError) {
        if case .failed(_, let code, let message) = error {
            // A violated deferred constraint, or another client's lock: the transaction is still open.
            if code & 0xFF == 19 || code & 0xFF == 5 {
                throw DatabaseError(resultCode: ResultCode(rawValue: CInt(truncatingIfNeeded: code)), message: message)
            }
            // A node that isn't the leader refuses COMMIT before it does anything.
            if code == 10_250 {
                didLose(link, error)
                throw .nothingHappened(error)
            }
            if code == 1 {
                didEnd()
                throw DatabaseError(resultCode: .SQLITE_ABORT_ROLLBACK, message: message)
            }
        }
        if case .unsendable(let reason) = error {
            throw DatabaseError.misuse("\(reason)")
        }
        didLose(link, error)
        didEnd()
        guard let identifier else { throw .outcomeUnknown(error, identifier: nil) }
        switch settle(identifier) {
        case .committed: return
        case .notCommitted: throw .nothingHappened(error)
        case .unknown(let reason): throw .outcomeUnknown(reason ?? error, identifier: identifier)
        }
    }

    // MARK: - Rollback

    func rollback() {
        defer { didEnd() }
        guard transaction == .open, let link, !link.isDead else { return }
        // The statement that was to be interrupted has ended.
        waker.clear()
        let limit = now &+ min(settings.statementTimeout, 5_000_000_000)
        do throws(LinkError) {
            if let streaming { streaming.close() }
            try send([.executeSQL(database: databaseID, sql: "ROLLBACK", arguments: [])], by: link, until: limit)
            let response = try receive(by: link, until: limit)
            // "no transaction is active": the node has rolled back already.
            if case .failure(let code, let message) = response, code != 1 {
                throw .failed(link.address, code: code, message: message)
            }
            if hasChangedSchema { schemaDidChange() }
        } catch {
            // The end of the link rolls back.
            didLose(link, error)
        }
    }

    // MARK: - Settling

    enum Settlement {
        case committed
        case notCommitted
        case unknown(LinkError?)
    }

    /// Finds out whether a transaction whose COMMIT has no answer has taken place.
    ///
    /// The row of the identifier tells that it has. To know that it has not, and never will, another transaction writes
    /// the row first: when that is committed, a leader with a majority has ordered it before anything that may still be
    /// on its way.
    private func settle(_ identifier: CommitIdentifier) -> Settlement {
        let end = now &+ settings.settlementTimeout
        var last: LinkError?
        var backoff: UInt64 = 2_000_000
        while now < end {
            waker.clear()
            var link: NodeLink?
            do throws(LinkError) {
                let opened = try openLink(until: end)
                link = opened
                if let settlement = try ask(identifier, opened, until: end) { return settlement }
            } catch {
                last = error
                if let link { didLose(link, error) }
            }
            _ = waker.wait(until: min(end, now &+ UInt64.random(in: backoff / 2...backoff)))
            backoff = min(backoff * 2, 100_000_000)
        }
        return .unknown(last)
    }

    /// - returns: nil to ask again.
    private func ask(
        _ identifier: CommitIdentifier, _ link: NodeLink, until end: UInt64
    ) throws(LinkError) -> Settlement? {
        let limit = min(end, now &+ settings.settlementTimeout / 4)
        guard try run("BEGIN IMMEDIATE", [], link, limit) != nil else { return nil }
        let database = databaseID
        try send(
            [.querySQL(database: database, sql: CommitIdentifier.question, arguments: identifier.key)], by: link,
            until: limit)
        switch try receive(by: link, until: limit) {
        case .rows(let page):
            var reader = page.makeReader()
            if (try? reader.next()) == true {
                let isFence = reader.cells[0].integer != 0
                _ = try run("ROLLBACK", [], link, limit)
                return isFence ? .notCommitted : .committed
            }
        case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
        case let response: throw link.violation("it responded to a query with \(response.name).")
        }
        guard try run(CommitIdentifier.fencing, identifier.key, link, limit) != nil else {
            _ = try run("ROLLBACK", [], link, limit)
            return nil
        }
        guard try run("COMMIT", [], link, limit) != nil else { return nil }
        return .notCommitted
    }

    /// Runs a statement of the settlement.
    ///
    /// - returns: nil if another client's lock prevents it.
    private func run(
        _ sql: String, _ arguments: [WireValue], _ link: NodeLink, _ limit: UInt64
    ) throws(LinkError) -> RemoteResult? {
        try send([.executeSQL(database: databaseID, sql: sql, arguments: arguments)], by: link, until: limit)
        do throws(LinkError) {
            return try LeaderAnswer.result(try receive(by: link, until: limit), link)
        } catch {
            if case .failed(_, let code, _) = error, code & 0xFF == 5 { return nil }
            throw error
        }
    }
}
