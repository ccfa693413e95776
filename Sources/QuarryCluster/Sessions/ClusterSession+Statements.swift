import QuarryClusterWire
import QuarryCore

extension ClusterSession {
    // MARK: - Queries and changes

    func query(
        _ sql: String, _ arguments: [DatabaseValue], isReadonly: Bool, _ call: RemoteCall
    ) throws(DatabaseError) -> any RemoteRows {
        let arguments = try wireValues(arguments, sql: sql)
        try checkTransaction(call)
        if isReadonly, transaction != .open { return try beginAndQuery(sql, arguments, call) }
        if transaction == .none {
            // A node aborts after a change with RETURNING outside a transaction.
            return try inOwnTransaction(call) { () throws(DatabaseError) in
                let rows = try queryInTransaction(sql, arguments, isReadonly: false, call)
                rows.readAhead()
                return rows
            }
        }
        try beginIfPending(call)
        return try queryInTransaction(sql, arguments, isReadonly: isReadonly, call)
    }

    func execute(
        _ sql: String, _ arguments: [DatabaseValue], _ call: RemoteCall
    ) throws(DatabaseError) -> RemoteResult {
        let arguments = try wireValues(arguments, sql: sql)
        try checkTransaction(call)
        guard transaction != .none else {
            return try inOwnTransaction(call) { () throws(DatabaseError) in
                try executeInTransaction(sql, arguments, call)
            }
        }
        try beginIfPending(call)
        return try executeInTransaction(sql, arguments, call)
    }

    func run(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        try checkTransaction(call)
        let kind = sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
        let isSetting = kind == "PRAGMA" || ["SAVEPOINT", "RELEASE", "ROLLBACK"].contains(kind)
        if transaction == .none, !isSetting {
            return try inOwnTransaction(call) { () throws(DatabaseError) in try changeSchema(sql, call) }
        }
        try beginIfPending(call)
        if isSetting {
            try runInTransaction(sql, call)
            if kind == "ROLLBACK", hasChangedSchema { schemaDidChange() }
            return
        }
        try changeSchema(sql, call)
    }

    private func changeSchema(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        (hasWritten, hasChangedSchema) = (true, true)
        // The journal may be the table that is dropped.
        identifierOfTransaction = nil
        try runInTransaction(sql, call)
        schemaDidChange()
    }

    /// Notes that the open transaction changes something. A statement on the journal may remove the identifier, so
    /// COMMIT needs another one.
    private func willChange(_ sql: String) {
        hasWritten = true
        if identifierOfTransaction != nil, CommitIdentifier.isMentioned(in: sql) { identifierOfTransaction = nil }
    }

    /// Runs a text without arguments, whose result isn't needed.
    private func runInTransaction(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        let link = try usableLink(call)
        do throws(LinkError) {
            let limit = limit(call)
            try send([.executeSQL(database: databaseID, sql: sql, arguments: [])], by: link, until: limit)
            try LeaderAnswer.expectResult(try receive(by: link, until: limit), link)
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    private func queryInTransaction(
        _ sql: String, _ arguments: [WireValue], isReadonly: Bool, _ call: RemoteCall
    ) throws(DatabaseError) -> SessionRows {
        let link = try usableLink(call)
        if !isReadonly { willChange(sql) }
        do throws(LinkError) {
            let limit = limit(call)
            var (requests, behind) = requests(sql, arguments, returnsRows: true)
            if !isReadonly {
                requests.append(
                    .querySQL(database: databaseID, sql: "SELECT last_insert_rowid(), changes()", arguments: []))
            }
            try send(requests, by: link, until: limit)
            let response = try receive(by: link, until: limit)
            // The answers of a failed statement's followers come all the same.
            owed += behind
            if !isReadonly, case .failure = response { owed.append(.ignored) }
            let rows = try self.rows(response, link)
            guard !isReadonly else { return rows }
            rows.readAhead()
            if case .rows(let page) = try receive(by: link, until: limit) {
                var reader = page.makeReader()
                if (try? reader.next()) == true {
                    (lastInsertedRowID, lastChangesCount) = (reader.cells[0].integer, Int(reader.cells[1].integer))
                }
            }
            return rows
        } catch {
            throw failure(error, of: link, mayHaveEnded: !isReadonly)
        }
    }

    private func executeInTransaction(
        _ sql: String, _ arguments: [WireValue], _ call: RemoteCall
    ) throws(DatabaseError) -> RemoteResult {
        let link = try usableLink(call)
        willChange(sql)
        do throws(LinkError) {
            let limit = limit(call)
            let (requests, behind) = requests(sql, arguments, returnsRows: false)
            try send(requests, by: link, until: limit)
            let response = try receive(by: link, until: limit)
            owed += behind
            let result = try LeaderAnswer.result(response, link)
            lastInsertedRowID = result.lastInsertedRowID
            return result
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    /// The requests that run a statement, and the answers that follow its own.
    private func requests(
        _ sql: String, _ arguments: [WireValue], returnsRows: Bool
    ) -> (requests: [Request], behind: [Owed]) {
        let database = databaseID
        let text: Request =
            returnsRows
            ? .querySQL(database: database, sql: sql, arguments: arguments)
            : .executeSQL(database: database, sql: sql, arguments: arguments)
        switch prepared.formOfNextRun(of: sql) {
        case .text: return ([text], [])
        case .textThenPrepare:
            let excess = prepared.removeExcess()
            return (
                [text, .prepare(database: database, sql: sql)]
                    + excess.map { .finalize(database: database, statement: $0) },
                [.prepared(sql)] + excess.map { _ in .finalized }
            )
        case .prepared(let id):
            return (
                [
                    returnsRows
                        ? .query(database: database, statement: id, arguments: arguments)
                        : .execute(database: database, statement: id, arguments: arguments)
                ], []
            )
        }
    }

    private func rows(_ response: Response, _ link: NodeLink) throws(LinkError) -> SessionRows {
        switch response {
        case .rows(let page):
            do {
                let rows = try SessionRows(page, self)
                if rows.isStreaming { streaming = rows }
                return rows
            } catch {
                throw link.violation("\(error)")
            }
        case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
        default: throw link.violation("it responded to a query with \(response.name).")
        }
    }

    // MARK: - Beginning

    /// Runs a query as the first statement of the transaction that is about to begin, or in one of its own. BEGIN, the
    /// version of the schema and the query are sent at once.
    private func beginAndQuery(
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
    private func beginning<T>(
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
    private func checkTransaction(_ call: RemoteCall) throws(DatabaseError) {
        if !call.isInsideTransaction, transaction != .none { rollback() }
        if call.isInsideTransaction, transaction == .none { throw lostError("The connection was lost.") }
    }

    /// Runs a change in a transaction of its own, so that its outcome can be learned.
    private func inOwnTransaction<T>(
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

    // MARK: - The schema

    func learnSchemaVersion(_ call: RemoteCall) throws(DatabaseError) {
        try checkTransaction(call)
        if transaction == .open, knowsVersionOfTransaction { return }
        if case .pending = transaction { return try beginIfPending(call) }
        try askForVersion(call)
    }

    private func askForVersion(_ call: RemoteCall) throws(DatabaseError) {
        if transaction == .open {
            let link = try usableLink(call)
            do throws(LinkError) {
                try askForVersion(link, until: limit(call))
            } catch {
                throw failure(error, of: link)
            }
        } else {
            try beginning(call) { link, limit throws(LinkError) in try askForVersion(link, until: limit) }
        }
    }

    private func askForVersion(_ link: NodeLink, until limit: UInt64) throws(LinkError) {
        try send(
            [.querySQL(database: databaseID, sql: "PRAGMA schema_version", arguments: [])], by: link, until: limit)
        if try takeVersion(try receive(by: link, until: limit), link) { try refreshNode(link, until: limit) }
    }

    func schema(_ call: RemoteCall) throws(DatabaseError) -> [RemoteSchemaEntry] {
        let rows = try query(
            """
            SELECT type, name, sql FROM sqlite_schema \
            WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
            """, [], isReadonly: true, call)
        defer { rows.close() }
        var entries: [RemoteSchemaEntry] = []
        while try rows.next() {
            var texts: [String] = []
            for column in 0..<3 {
                rows.withValue(column) { value in
                    if case .text(let bytes) = value { texts.append(String(decoding: bytes, as: UTF8.self)) }
                }
            }
            guard texts.count == 3, let kind = RemoteSchemaEntry.Kind(rawValue: texts[0]) else { continue }
            entries.append(RemoteSchemaEntry(kind: kind, name: texts[1], sql: texts[2]))
        }
        return entries
    }

    func setForeignKeys(on isOn: Bool, _ call: RemoteCall) throws(DatabaseError) {
        guard isOn != checksForeignKeys else { return }
        guard !call.isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    foreign keys can't be turned \(isOn ? "on" : "off") inside a transaction of a cluster, as rebuilding \
                    a table would: a DatabaseMigrator turns them off before its transactions
                    """)
        }
        try checkTransaction(call)
        // A later link is told, too.
        checksForeignKeys = isOn
        guard let link, !link.isDead else { return }
        do throws(LinkError) {
            try send(
                [
                    .executeSQL(
                        database: databaseID, sql: "PRAGMA foreign_keys = \(isOn ? "ON" : "OFF")", arguments: [])
                ], by: link, until: limit(call))
            try LeaderAnswer.expectResult(try receive(by: link, until: limit(call)), link)
        } catch {
            // The next link is told.
            didLose(link, error)
        }
    }

    // MARK: - Values

    private func wireValues(_ values: [DatabaseValue], sql: String) throws(DatabaseError) -> [WireValue] {
        guard !sql.utf8.contains(0) else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "SQL has a NUL character", sql: sql)
        }
        var result: [WireValue] = []
        result.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            switch value.rawStorage {
            case .null: result.append(.null)
            case .int64(let number): result.append(.integer(number))
            case .double(let number): result.append(.float(number))
            case .blob(let bytes): result.append(.blob(bytes))
            case .string(let text):
                guard !text.utf8.contains(0) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_MISMATCH,
                        message: """
                            argument \(index + 1) has a NUL character, where a node would cut the text: store a blob
                            """, sql: sql)
                }
                result.append(.text(text))
            }
        }
        return result
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

/// The answers of a leader that are checked alike everywhere.
enum LeaderAnswer {
    static func result(_ response: Response, _ link: NodeLink) throws(LinkError) -> RemoteResult {
        switch response {
        case .result(let rowID, let count):
            return RemoteResult(lastInsertedRowID: rowID, changesCount: Int(clamping: count))
        case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
        default: throw link.violation("it responded to a statement with \(response.name).")
        }
    }

    static func expectResult(_ response: Response, _ link: NodeLink) throws(LinkError) {
        _ = try result(response, link)
    }
}
