import QuarryCore

/// All SQL of an outbox.
///
/// `email` has the pending messages, `email_failed` the ones that were given up, and `email_lease` one row: the lease.
struct OutboxTables: Sendable {
    let name: String
    private let messages: String
    private let failures: String
    private let lease: String

    init(_ name: String) {
        self.name = name
        messages = name.quotedDatabaseIdentifier
        failures = "\(name)_failed".quotedDatabaseIdentifier
        lease = "\(name)_lease".quotedDatabaseIdentifier
    }

    func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(messages) (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, payload, attempts INTEGER NOT NULL DEFAULT 0, error TEXT);
                CREATE TABLE \(failures) (id INTEGER PRIMARY KEY, payload, attempts INTEGER NOT NULL, error TEXT);
                CREATE TABLE \(lease) (
                    id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT, firstMessage INTEGER, lastMessage INTEGER,
                    beginning REAL, ending REAL, pauseBeginning REAL, pauseEnding REAL);
                INSERT INTO \(lease) (id) VALUES (1);
                """)
    }

    // MARK: - Messages

    func append(_ payload: DatabaseValue, _ db: Database) throws -> Int64 {
        try db.cachedStatement(sql: "INSERT INTO \(messages) (payload) VALUES (?)").execute(arguments: [payload])
        return db.lastInsertedRowID
    }

    func pendingCount(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(messages)") ?? 0
    }

    func failed(_ db: Database) throws -> [StoredMessage] {
        try stored(db, "SELECT id, payload, attempts, error FROM \(failures) ORDER BY id")
    }

    func retryFailed(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO \(messages) (id, payload) SELECT id, payload FROM \(failures);
                DELETE FROM \(failures);
                """)
    }

    private func stored(
        _ db: Database, _ sql: String, _ arguments: StatementArguments = StatementArguments()
    ) throws -> [StoredMessage] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map { row in
            StoredMessage(
                outbox: name, id: try row.decode(atIndex: 0), payload: try row.decode(atIndex: 1),
                failedAttempts: try row.decode(atIndex: 2), error: try row.decode(atIndex: 3))
        }
    }

    // MARK: - The lease

    /// The work that a consumer finds.
    enum Next: Sendable {
        case batch(LeasedBatch)
        /// Nothing can be delivered for some seconds; nil until a message comes.
        case wait(Double?)
    }

    /// Whether a batch may be leased: a look that takes no lock.
    ///
    /// - returns: nil if it may.
    func wait(_ db: Database) throws -> Next? {
        guard try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(messages))")) ?? false else {
            return .wait(nil)
        }
        guard case .wait(let seconds) = try readLease(db).decide(at: db.secondsOfTransaction) else { return nil }
        return .wait(seconds)
    }

    /// Leases the oldest messages.
    func takeLease(_ options: OutboxOptions, _ db: Database) throws -> Next {
        let time = try db.secondsOfTransaction
        switch try readLease(db).decide(at: time) {
        case .wait(let seconds): return .wait(seconds)
        case .takeOver(let cutOff): try countFailure(of: cutOff, error: "the delivery was cut off", options, db)
        case .take: break
        }
        let batch = try firstMessages(options, db)
        guard let first = batch.first, let last = batch.last else {
            try write(OutboxLease(), db)
            return .wait(nil)
        }
        let owner = "\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))"
        let holding = OutboxLease.Holding(
            owner: owner, messages: first.id...last.id, begin: time, end: time + options.lease.inSeconds)
        try write(OutboxLease(state: .held(holding)), db)
        return .batch(LeasedBatch(owner: owner, messages: batch))
    }

    /// The oldest messages. A message that has failed before is delivered alone, so that it is known which one fails.
    private func firstMessages(_ options: OutboxOptions, _ db: Database) throws -> [StoredMessage] {
        let sql = "SELECT id, payload, attempts, error FROM \(messages) ORDER BY id LIMIT ?"
        let batch = try stored(db, sql, [options.batch])
        if let first = batch.first, first.failedAttempts > 0 { return [first] }
        return Array(batch.prefix { $0.failedAttempts == 0 })
    }

    /// Deletes delivered messages, and frees the lease.
    ///
    /// - returns: false if another consumer has taken the lease over: it has the messages now.
    func finish(_ batch: LeasedBatch, _ db: Database) throws -> Bool {
        guard try readLease(db).isHeld(by: batch.owner) else { return false }
        // One by one: a message that had failed may have come back in between.
        let deletion = try db.cachedStatement(sql: "DELETE FROM \(messages) WHERE id = ?")
        for message in batch.messages { try deletion.execute(arguments: [message.id]) }
        try write(OutboxLease(), db)
        return true
    }

    /// Frees the lease of messages that were not delivered.
    ///
    /// - parameter error: the failure, which counts; nil if the delivery was cancelled.
    func giveBack(_ batch: LeasedBatch, error: String?, _ options: OutboxOptions, _ db: Database) throws {
        guard try readLease(db).isHeld(by: batch.owner) else { return }
        var lease = OutboxLease()
        if let error, let first = batch.messages.first, let last = batch.messages.last {
            try countFailure(of: first.id...last.id, error: error, options, db)
            let time = try db.secondsOfTransaction
            lease.pause = OutboxLease.Pause(
                begin: time, end: time + options.backoff(batch.failedAttempts + 1).inSeconds)
        }
        try write(lease, db)
    }

    private func countFailure(
        of range: ClosedRange<Int64>, error: String, _ options: OutboxOptions, _ db: Database
    ) throws {
        try db.execute(
            sql: "UPDATE \(messages) SET attempts = attempts + 1, error = ? WHERE id BETWEEN ? AND ?",
            arguments: [error, range.lowerBound, range.upperBound])
        // The messages of a batch are delivered one by one next: only a message that has failed alone is given up.
        guard let maximum = options.maximumAttempts, range.lowerBound == range.upperBound else { return }
        let condition = "WHERE id = ? AND attempts >= ?"
        let arguments: StatementArguments = [range.lowerBound, maximum]
        try db.execute(
            sql: """
                INSERT INTO \(failures) (id, payload, attempts, error)
                SELECT id, payload, attempts, error FROM \(messages) \(condition)
                """, arguments: arguments)
        try db.execute(sql: "DELETE FROM \(messages) \(condition)", arguments: arguments)
    }

    private func readLease(_ db: Database) throws -> OutboxLease {
        let sql = """
            SELECT owner, firstMessage, lastMessage, beginning, ending, pauseBeginning, pauseEnding FROM \(lease)
            """
        guard let row = try Row.fetchOne(db.cachedStatement(sql: sql)) else { return OutboxLease() }
        var result = OutboxLease()
        let owner: String? = try row.decode(atIndex: 0)
        if let owner {
            let (first, last): (Int64, Int64) = (try row.decode(atIndex: 1), try row.decode(atIndex: 2))
            result.state = .held(
                OutboxLease.Holding(
                    owner: owner, messages: first...max(first, last), begin: try row.decode(atIndex: 3),
                    end: try row.decode(atIndex: 4)))
        }
        let (pauseBegin, pauseEnd): (Double?, Double?) = (try row.decode(atIndex: 5), try row.decode(atIndex: 6))
        if let pauseBegin, let pauseEnd { result.pause = OutboxLease.Pause(begin: pauseBegin, end: pauseEnd) }
        return result
    }

    private func write(_ lease: OutboxLease, _ db: Database) throws {
        var holding: OutboxLease.Holding?
        if case .held(let held) = lease.state { holding = held }
        let sql = """
            INSERT OR REPLACE INTO \(self.lease)
                (id, owner, firstMessage, lastMessage, beginning, ending, pauseBeginning, pauseEnding)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?)
            """
        try db.cachedStatement(sql: sql).execute(
            arguments: [
                holding?.owner, holding?.messages.lowerBound, holding?.messages.upperBound, holding?.begin,
                holding?.end,
                lease.pause?.begin, lease.pause?.end,
            ])
    }
}
