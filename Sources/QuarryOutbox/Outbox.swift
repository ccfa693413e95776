public import QuarryCore

/// Messages that are written in the transaction of the change they tell of, and delivered afterwards: at least once,
/// in order.
///
/// ```swift
/// struct Email: Codable, DatabaseValueConvertible, Sendable {
///     var address: String
///     var text: String
/// }
/// let emails = Outbox<Email>("email")
///
/// migrator.registerMigration("emails") { db in try emails.createTables(db) }
///
/// try await dbPool.write { db in
///     try order.insert(db)
///     try emails.append(Email(address: order.address, text: "Thank you!"), db)
/// }
///
/// try await emails.deliver(from: dbPool) { messages in
///     for message in messages { try await send(message.payload) }
/// }
/// ```
///
/// If the transaction is rolled back, so is the message. If the program ends before a message is delivered, another run
/// delivers it.
///
/// Several consumers, in one process or in several, may deliver from one outbox: one of them at a time has the outbox's
/// lease. A message is deleted when its delivery has succeeded. A consumer that ends in between leaves it, so that it
/// is delivered again: make the receiver ignore a message whose `id` it knows.
public struct Outbox<Payload: DatabaseValueConvertible & Sendable>: Sendable {
    /// The name of the table of messages.
    public let name: String

    let tables: OutboxTables

    /// An outbox.
    ///
    /// - parameter name: the name of its table of messages. The names of two more tables begin with it: `email_lease`
    ///   and `email_failed`.
    public init(_ name: String) {
        self.name = name
        tables = OutboxTables(name)
    }

    /// Creates the tables, in a migration.
    ///
    /// ```sql
    /// CREATE TABLE "email" (
    ///     id INTEGER PRIMARY KEY AUTOINCREMENT, payload, attempts INTEGER NOT NULL DEFAULT 0, error TEXT);
    /// CREATE TABLE "email_failed" (id INTEGER PRIMARY KEY, payload, attempts INTEGER NOT NULL, error TEXT);
    /// CREATE TABLE "email_lease" (id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT, …);
    /// ```
    ///
    /// - throws: `DatabaseError`, for example if a table exists.
    public func createTables(_ db: Database) throws { try tables.create(db) }

    /// Adds a message, in the transaction of the change that it tells of.
    ///
    /// ```swift
    /// try emails.append(Email(address: "arthur@example.org", text: "Hello"), db)
    /// ```
    /// ```sql
    /// INSERT INTO "email" (payload) VALUES (?)
    /// ```
    ///
    /// - returns: the message's number. Later messages have higher numbers.
    /// - throws: `DatabaseError`.
    @discardableResult
    public func append(_ payload: Payload, _ db: Database) throws -> Int64 {
        try tables.append(payload.databaseValue, db)
    }

    /// The number of messages that are not delivered yet, without the failed ones.
    ///
    /// - throws: `DatabaseError`.
    public func pendingCount(_ db: Database) throws -> Int { try tables.pendingCount(db) }

    /// The messages that were given up after `OutboxOptions.maximumAttempts`, the oldest first.
    ///
    /// ```swift
    /// for message in try emails.failedMessages(db) { print(message.id, message.error ?? "") }
    /// ```
    ///
    /// - throws: `DatabaseError`; the error of decoding a payload.
    public func failedMessages(_ db: Database) throws -> [OutboxMessage<Payload>] {
        try tables.failed(db).map { try OutboxMessage($0) }
    }

    /// Puts failed messages back, with their numbers: they are delivered before all later messages that are pending.
    ///
    /// ```swift
    /// try await dbPool.write { db in try emails.retryFailedMessages(db) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func retryFailedMessages(_ db: Database) throws { try tables.retryFailed(db) }
}

/// A message of an outbox.
public struct OutboxMessage<Payload: DatabaseValueConvertible & Sendable>: Sendable, Identifiable {
    /// The number, which no other message of the outbox has ever had.
    public let id: Int64

    /// The content.
    public let payload: Payload

    /// The number of earlier deliveries that have failed or were cut off.
    public let failedAttempts: Int

    /// The error of the last failed delivery.
    public let error: String?

    init(_ stored: StoredMessage) throws {
        id = stored.id
        guard let payload = Payload.fromDatabaseValue(stored.payload) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISMATCH,
                message: "the payload of message \(stored.id) of the outbox \(stored.outbox) is no \(Payload.self)")
        }
        self.payload = payload
        failedAttempts = stored.failedAttempts
        error = stored.error
    }
}

/// The ways in which an outbox delivers.
///
/// ```swift
/// try await emails.deliver(from: dbPool, options: OutboxOptions(batch: 10, maximumAttempts: 5)) { messages in
///     try await send(messages)
/// }
/// ```
public struct OutboxOptions: Sendable {
    /// How long a consumer has the outbox for one batch. Afterwards its task is cancelled, and another consumer may
    /// deliver the batch.
    public var lease: Duration

    /// The largest number of messages in one call of the closure.
    public var batch: Int

    /// The number of failed deliveries after which a message is given up. nil, the default, tries forever, and keeps
    /// later messages waiting: nothing is ever delivered out of order.
    public var maximumAttempts: Int?

    /// The pause after a failed delivery, which depends on the number of failed deliveries of the first message.
    public var backoff: @Sendable (_ failedAttempts: Int) -> Duration

    /// The interval at which the outbox looks for messages that it hasn't noticed at their commit, such as those of
    /// other processes if `Configuration.otherProcesses` is `ignored`.
    public var pollInterval: Duration

    /// - parameter lease: longer than the delivery of a batch takes.
    public init(
        lease: Duration = .seconds(30), batch: Int = 100, maximumAttempts: Int? = nil,
        pollInterval: Duration = .seconds(1),
        backoff: @escaping @Sendable (_ failedAttempts: Int) -> Duration = OutboxOptions.exponentialBackoff
    ) {
        self.lease = lease
        self.batch = batch
        self.maximumAttempts = maximumAttempts
        self.pollInterval = pollInterval
        self.backoff = backoff
    }

    /// 1, 2, 4, 8, 16, 32, and then 60 seconds.
    public static let exponentialBackoff: @Sendable (_ failedAttempts: Int) -> Duration = { failedAttempts in
        .seconds(failedAttempts > 6 ? 60 : 1 << max(0, failedAttempts - 1))
    }

    /// - throws: `SQLITE_MISUSE` for values with which nothing would ever be delivered.
    func check() throws(DatabaseError) {
        guard batch > 0, lease > .zero, pollInterval > .zero, maximumAttempts.map({ $0 > 0 }) ?? true else {
            throw DatabaseError.misuse("an outbox needs a positive batch, lease, poll interval and number of attempts")
        }
    }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
