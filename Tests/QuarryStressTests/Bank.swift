import Quarry
import QuarryCore
import QuarryTestSupport
import Synchronization

/// A bank: money is moved between accounts, and the sum of all accounts never changes.
///
/// It knows which transfers were acknowledged and which were refused, and keeps what went wrong.
final class Bank: Sendable {
    static let accountCount = 20
    static let total = 20_000

    /// The events so far.
    struct Tally {
        var acknowledged: [Int] = []
        var refused: [Int] = []
        var reads = 0
        var refusals: [Refusal: Int] = [:]
        var faults: [String] = []
    }

    let writer: any DatabaseWriter
    let allowed: Set<Refusal>
    private let tally = Recorded(Tally())
    private let lastTransfer = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)

    /// - parameter allowed: why accesses may fail, apart from what they themselves ask for.
    init(_ writer: any DatabaseWriter, allowed: Set<Refusal>) {
        self.writer = writer
        self.allowed = allowed
    }

    /// Whether tasks and threads are to go on.
    func goesOn(until end: UInt64) -> Bool {
        !isOver.load(ordering: .relaxed) && SystemClock.monotonicNanoseconds() < end
    }

    /// Lets tasks and threads come to their end.
    func stop() { isOver.store(true, ordering: .relaxed) }

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
                CREATE TABLE transfer (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
                CREATE TABLE bank (transferCount INTEGER NOT NULL);
                INSERT INTO bank VALUES (0);
                """)
        for id in 1...accountCount {
            try db.execute(sql: "INSERT INTO account VALUES (?, ?)", arguments: [id, total / accountCount])
        }
    }

    // MARK: - Moving money

    /// One movement of money. Each has a number of its own, and is tried once.
    struct Transfer: Sendable {
        let id: Int
        let source: Int
        let target: Int
        let amount: Int

        /// Moves the money, in a transaction.
        func run(_ db: Database) throws {
            let balance = try Int.fetchOne(db, sql: "SELECT balance FROM account WHERE id = ?", arguments: [source])
            guard let balance, balance >= amount else { throw Poor() }
            try db.execute(sql: "UPDATE account SET balance = balance - ? WHERE id = ?", arguments: [amount, source])
            try db.execute(sql: "INSERT INTO transfer VALUES (?, ?)", arguments: [id, amount])
            try db.execute(sql: "UPDATE bank SET transferCount = transferCount + 1")
            try db.execute(sql: "UPDATE account SET balance = balance + ? WHERE id = ?", arguments: [amount, target])
        }
    }

    func transfer(_ generator: inout SeededGenerator) -> Transfer {
        Transfer(
            id: lastTransfer.wrappingAdd(1, ordering: .relaxed).newValue,
            source: .random(in: 1...Self.accountCount, using: &generator),
            target: .random(in: 1...Self.accountCount, using: &generator),
            amount: .random(in: 1...300, using: &generator))
    }

    /// Keeps what becomes of a transfer, and throws its error.
    func settle(_ transfer: Transfer, _ body: () async throws -> Void) async throws {
        do {
            try await body()
            tally.update { $0.acknowledged.append(transfer.id) }
        } catch {
            tally.update { $0.refused.append(transfer.id) }
            throw error
        }
    }

    /// As `settle`, on a thread.
    func settleHere(_ transfer: Transfer, _ body: () throws -> Void) throws {
        do {
            try body()
            tally.update { $0.acknowledged.append(transfer.id) }
        } catch {
            tally.update { $0.refused.append(transfer.id) }
            throw error
        }
    }

    // MARK: - Looking

    /// Looks at the accounts twice, in one transaction: the sum is right, and nothing changes meanwhile.
    ///
    /// - returns: the number of transfers.
    @discardableResult
    func look(_ db: Database) throws -> Int {
        let before = try count(db)
        var sum = 0
        let cursor = try Int.fetchCursor(db, sql: "SELECT balance FROM account ORDER BY id")
        while let balance = try cursor.next() { sum += balance }
        let after = try count(db)
        if sum != Self.total { fault("the accounts have \(sum)") }
        if before != after { fault("\(after - before) transfers during a read") }
        tally.update { $0.reads += 1 }
        return before
    }

    private func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT transferCount FROM bank") ?? -1
    }

    /// Looks at the accounts in one statement.
    func glance(_ db: Database) throws {
        let sum = try Int.fetchOne(db, sql: "SELECT SUM(balance) FROM account") ?? -1
        if sum != Self.total { fault("the accounts have \(sum) in one statement") }
        tally.update { $0.reads += 1 }
    }

    /// Whether a transfer has been made.
    func has(_ transfer: Transfer, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM transfer WHERE id = ?)", arguments: [transfer.id]) ?? false
    }

    // MARK: - What goes wrong

    /// Something is as it must never be.
    func fault(_ text: String) {
        tally.update { tally in
            if tally.faults.count < 20 { tally.faults.append(text) }
        }
    }

    /// An action has failed.
    ///
    /// - parameter expected: what this action may fail with, in addition to what is always allowed.
    func note(_ error: any Error, in action: String, expected: Set<Refusal> = []) {
        if let refusal = Refusal(error), allowed.contains(refusal) || expected.contains(refusal) || refusal == .poor {
            tally.update { $0.refusals[refusal, default: 0] += 1 }
        } else {
            fault("\(action): \(error)")
        }
    }

    var current: Tally { tally.value }

    /// The events, in a line.
    var report: String {
        let tally = current
        let refusals = tally.refusals.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "\(tally.acknowledged.count) transfers, \(tally.refused.count) refused, \(tally.reads) reads, "
            + "failed: " + refusals.joined(separator: ", ")
    }

    /// Compares the acknowledged transfers with the database.
    ///
    /// - parameter isLong: whether there was time for a transfer.
    func audit(_ db: Database, isLong: Bool = true) throws {
        try look(db)
        let made = try Int.fetchAll(db, sql: "SELECT id FROM transfer ORDER BY id")
        let tally = current
        let acknowledged = Set(tally.acknowledged)
        let lost = acknowledged.subtracting(made)
        let undead = Set(made).subtracting(acknowledged)
        if !lost.isEmpty { fault("acknowledged, and lost: \(lost.sorted().prefix(10))") }
        if !undead.isEmpty { fault("there, though never acknowledged: \(undead.sorted().prefix(10))") }
        if try count(db) != made.count { fault("transferCount is \(try count(db)), of \(made.count) transfers") }
        let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        if integrity != ["ok"] { fault("integrity_check: \(integrity)") }
        if isLong, tally.acknowledged.isEmpty { fault("no transfer was made") }
        if isLong, tally.reads < 2 { fault("nothing was read") }
    }
}
