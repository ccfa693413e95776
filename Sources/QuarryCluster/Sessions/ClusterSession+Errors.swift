import QuarryClusterWire
import QuarryCore

extension LinkError {
    /// Codes of a node that has lost the leadership, or that no longer has the session's database: 10250 and 10506, and
    /// "no database opened" after a change of leaders.
    static let lostLeaderCodes: Set<UInt64> = [10_250, 10_506, 12]

    /// Whether another link would fail, too.
    var isFinal: Bool {
        switch self {
        case .interrupted, .unsendable, .noLeader, .systemFailure, .protocolViolation: true
        default: false
        }
    }
}

extension ClusterSession {
    /// The link of the open transaction.
    func usableLink(_ call: RemoteCall) throws(DatabaseError) -> NodeLink {
        guard let link, !link.isDead else {
            if transaction == .open { throw lostError("The connection was lost.") }
            do throws(LinkError) {
                return try openLink(until: call.deadline)
            } catch {
                throw failure(error, of: nil)
            }
        }
        return link
    }

    /// The error of a transaction that was lost.
    func lostError(_ reason: String) -> DatabaseError {
        dropLink()
        return DatabaseError(
            resultCode: .SQLITE_ABORT_ROLLBACK, message: "\(reason) Nothing of the transaction was kept. Try again.")
    }

    /// The error of a request, as the program sees it. Drops the link if it can't be used any more.
    ///
    /// - parameter mayHaveEnded: whether the statement may have ended the transaction: `ON CONFLICT ROLLBACK`.
    func failure(_ error: LinkError, of link: NodeLink?, mayHaveEnded: Bool = false) -> DatabaseError {
        let wasOpen = transaction == .open
        switch error {
        case .failed(_, let code, let message) where !LinkError.lostLeaderCodes.contains(code):
            if mayHaveEnded, wasOpen, let link { noteEnd(link) }
            // Code 0 is dqlite's for statements that have none of SQLite's.
            let resultCode = code == 0 ? ResultCode.SQLITE_ERROR : ResultCode(rawValue: CInt(truncatingIfNeeded: code))
            return DatabaseError(resultCode: resultCode, message: message)
        case .unsendable(let reason):
            return DatabaseError.misuse("\(reason)")
        case .interrupted:
            dropLink()
            return DatabaseError(resultCode: .SQLITE_INTERRUPT)
        case .timedOut(let address, _):
            if let link { didLose(link, error) } else { dropLink() }
            return DatabaseError(
                resultCode: .SQLITE_INTERRUPT,
                message: """
                    statement timeout: node \(address) didn't respond within \
                    \(Double(settings.statementTimeout / 1_000_000) / 1_000) seconds \
                    (ClusterConfiguration.statementTimeout)
                    """)
        case .noLeader(let report):
            dropLink()
            return DatabaseError(resultCode: .notLeader, message: "no leader was found in time: \(report)")
        case .systemFailure:
            dropLink()
            return DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(error)")
        case .protocolViolation:
            if let link { didLose(link, error) } else { dropLink() }
            return DatabaseError(resultCode: .SQLITE_PROTOCOL, message: "\(error)")
        default:
            if let link { didLose(link, error) } else { dropLink() }
            return wasOpen ? lostError("\(error)") : DatabaseError(resultCode: .notLeader, message: "\(error)")
        }
    }

    /// After a failed statement: notes whether the node has ended the transaction, as `ON CONFLICT ROLLBACK` does. Only
    /// BEGIN tells: it fails inside a transaction.
    private func noteEnd(_ link: NodeLink) {
        let limit = now &+ settings.statementTimeout
        do throws(LinkError) {
            try send([.executeSQL(database: databaseID, sql: "BEGIN", arguments: [])], by: link, until: limit)
            switch try receive(by: link, until: limit) {
            case .failure(1, _): return
            case .result:
                transaction = .none
                try send([.executeSQL(database: databaseID, sql: "ROLLBACK", arguments: [])], by: link, until: limit)
                _ = try receive(by: link, until: limit)
                if hasChangedSchema { schemaDidChange() }
            case let response: throw link.violation("it responded to BEGIN with \(response.name).")
            }
        } catch {
            didLose(link, error)
        }
    }

    /// Reads the rest of the pages of a query whose rows aren't wanted.
    func skipPages(_ link: NodeLink, until limit: UInt64) throws(LinkError) {
        while true {
            switch try link.receive(until: limit) {
            case .rows(let page): if !page.hasMore { return }
            case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
            case let response: throw link.violation("it responded to a query with \(response.name).")
            }
        }
    }
}

extension ResultCode {
    /// dqlite's SQLITE_IOERR_NOT_LEADER.
    static let notLeader = ResultCode(rawValue: 10_250)

    /// dqlite's SQLITE_IOERR_LEADERSHIP_LOST.
    static let leadershipLost = ResultCode(rawValue: 10_506)
}

extension DatabaseError {
    /// The leader was lost before COMMIT, or COMMIT has not taken place.
    static func nothingHappened(_ reason: LinkError) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ABORT_ROLLBACK, message: "\(reason) Nothing of the transaction was kept. Try again.")
    }

    /// COMMIT may have taken place.
    static func outcomeUnknown(_ reason: LinkError, identifier: CommitIdentifier?) -> DatabaseError {
        let hint =
            identifier.map {
                "The transaction was committed if quarry_commit has a row with the id \($0) and isFence = 0."
            }
            ?? "ClusterConfiguration.keepsCommitJournal would tell."
        return DatabaseError(
            resultCode: .leadershipLost, message: "\(reason) The outcome of COMMIT is unknown. \(hint)")
    }
}
