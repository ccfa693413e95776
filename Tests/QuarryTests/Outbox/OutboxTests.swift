import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryOutbox

/// Outboxes: leases, order, and the ends of consumers at each step.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct OutboxTests {
    private struct Failed: Error {}

    private struct Email: Codable, DatabaseValueConvertible, Equatable {
        var address: String
        var count: Int
    }

    let folder: TemporaryFolder
    private let outbox = Outbox<String>("email")

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// A queue or pool on the test's file, whose clock of transactions is the test's.
    private func open(_ kind: WriterKind = .pool, _ time: Recorded<Double> = Recorded(0)) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in .init(timeIntervalSinceReferenceDate: time.value) }
        switch kind {
        case .pool: return try DatabasePool(path: folder.file("outbox.sqlite"), configuration: configuration)
        default: return try DatabaseQueue(path: folder.file("outbox.sqlite"), configuration: configuration)
        }
    }

    private func make(_ writer: any DatabaseWriter, _ messages: String...) throws {
        try writer.write { db in
            try outbox.createTables(db)
            for message in messages { try outbox.append(message, db) }
        }
    }

    /// Delivers one batch.
    ///
    /// - returns: the payloads; nil if none could be leased.
    private func next(
        _ writer: any DatabaseWriter, _ options: OutboxOptions = OutboxOptions(), failing: Set<String> = []
    ) async throws -> [String]? {
        let delivered = Recorded<[String]?>(nil)
        _ = try? await outbox.deliverNext(from: writer, options: options) { messages in
            delivered.update { $0 = messages.map(\.payload) }
            if messages.contains(where: { failing.contains($0.payload) }) { throw Failed() }
        }
        return delivered.value
    }

    private func pending(_ writer: any DatabaseWriter) throws -> [String] {
        try writer.read { db in try String.fetchAll(db, sql: "SELECT payload FROM email ORDER BY id") }
    }

    // MARK: - Order and transactions

    @Test(arguments: [WriterKind.pool, .fileQueue]) func messagesAreDeliveredInOrder(_ kind: WriterKind) async throws {
        let writer = try open(kind)
        try make(writer, "a", "b", "c")
        let options = OutboxOptions(batch: 2)
        #expect(try await next(writer, options) == ["a", "b"])
        #expect(try pending(writer) == ["c"])
        #expect(try await next(writer, options) == ["c"])
        #expect(try await next(writer, options) == nil)
        #expect(try await writer.read { db in try outbox.pendingCount(db) } == 0)
        // Numbers don't come again.
        #expect(try await writer.write { db in try outbox.append("d", db) } == 4)
    }

    @Test func messagesOfARolledBackTransactionAreNotDelivered() async throws {
        let writer = try open()
        try make(writer, "a")
        #expect(throws: Failed.self) {
            try writer.write { db in
                try outbox.append("b", db)
                throw Failed()
            }
        }
        #expect(try await next(writer) == ["a"])
        #expect(try await next(writer) == nil)
    }

    @Test func payloadsMayBeCodable() async throws {
        let writer = try open()
        let emails = Outbox<Email>("order \"mail\"")
        let email = Email(address: "a@b.c", count: 2)
        try await writer.write { db in
            try emails.createTables(db)
            try emails.append(email, db)
        }
        let count = try await emails.deliverNext(from: writer) { messages in
            #expect(messages.map(\.payload) == [email])
            #expect(messages.map(\.id) == [1])
            #expect(messages.allSatisfy { $0.failedAttempts == 0 && $0.error == nil })
        }
        #expect(count == 1)
    }

    @Test func tablesThatDoNotExistThrow() async throws {
        let writer = try open()
        await expectError(.SQLITE_ERROR, "no such table: email") { try await outbox.deliverNext(from: writer) { _ in } }
        await expectError(.SQLITE_ERROR, "no such table: email") { try await outbox.deliver(from: writer) { _ in } }
        expectError(.SQLITE_ERROR, "no such table: email") { try writer.write { db in try outbox.append("a", db) } }
    }

    @Test(arguments: [
        OutboxOptions(lease: .zero), OutboxOptions(batch: 0), OutboxOptions(maximumAttempts: 0),
        OutboxOptions(pollInterval: .seconds(-1)),
    ]) func uselessOptionsThrow(_ options: OutboxOptions) async throws {
        let writer = try open()
        await expectError(
            .SQLITE_MISUSE, "an outbox needs a positive batch, lease, poll interval and number of attempts"
        ) { try await outbox.deliver(from: writer, options: options) { _ in } }
    }

    // MARK: - Leases

    /// Two consumers, each with its own connections, as in two processes.
    @Test func twoConsumersNeverHoldTheSameMessage() async throws {
        let time = Recorded(0.0)
        let (first, second) = (try open(.pool, time), try open(.pool, time))
        try make(first, "a", "b")
        let (isLeased, mayGoOn) = (Step("the first consumer has a lease"), Step("it may go on"))
        let delivery = Task {
            try await outbox.deliverNext(from: first, options: OutboxOptions(batch: 1)) { messages in
                isLeased.reach()
                try await mayGoOn.reached()
            }
        }
        try await isLeased.reached()
        #expect(try await next(second) == nil)
        time.update { $0 = 29.9 }
        #expect(try await next(second) == nil)
        mayGoOn.reach()
        #expect(try await delivery.value == 1)
        #expect(try await next(second) == ["b"])
    }

    @Test func anExpiredLeaseIsTakenOver() async throws {
        let time = Recorded(0.0)
        let (first, second) = (try open(.pool, time), try open(.fileQueue, time))
        try make(first, "a", "b")
        let (isLeased, mayGoOn) = (Step("the first consumer has a lease"), Step("it may go on"))
        let delivery = Task {
            try await outbox.deliverNext(from: first, clock: ManualClock()) { _ in
                isLeased.reach()
                try await mayGoOn.reached()
            }
        }
        try await isLeased.reached()
        time.update { $0 = 30 }
        // Each failed delivery counts, and its messages come one by one.
        let attempts = Recorded<[Int]>([])
        let count = try await outbox.deliverNext(from: second) { messages in
            attempts.update { $0 = messages.map(\.failedAttempts) }
            #expect(messages.map(\.error) == ["the delivery was cut off"])
        }
        #expect(count == 1)
        #expect(attempts.value == [1])
        // The first consumer deletes nothing any more.
        mayGoOn.reach()
        #expect(try await delivery.value == 0)
        #expect(try pending(first) == ["b"])
        #expect(try await next(first) == ["b"])
    }

    @Test func aLateConsumerKeepsItsMessagesIfNobodyTookThem() async throws {
        let time = Recorded(0.0)
        let writer = try open(.pool, time)
        try make(writer, "a")
        let count = try await outbox.deliverNext(from: writer) { _ in time.update { $0 = 100 } }
        #expect(count == 1)
        #expect(try pending(writer) == [])
    }

    @Test func theTaskOfTheClosureIsCancelledAtTheEndOfTheLease() async throws {
        let writer = try open()
        try make(writer, "a")
        let clock = ManualClock()
        let never = Step("never")
        let delivery = Task {
            try await outbox.deliverNext(from: writer, options: OutboxOptions(lease: .seconds(7)), clock: clock) { _ in
                try await withTaskCancellationHandler {
                    try await never.reached()
                    try Task.checkCancellation()
                } onCancel: {
                    never.reach()
                }
            }
        }
        try await until("the lease is measured") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(7))
        await #expect(throws: CancellationError.self) { try await delivery.value }
        let stored = try await writer.read { db -> Row? in
            try Row.fetchOne(db, sql: "SELECT attempts, error FROM email")
        }
        let expected: Row = ["attempts": 1, "error": "CancellationError()"]
        #expect(stored == expected)
    }

    @Test func aRestartDeliversWhatWasLeased() async throws {
        let time = Recorded(0.0)
        do {
            let writer = try open(.pool, time)
            try make(writer, "a", "b")
            // The process ends between the lease and the delivery.
            _ = try await writer.write { db in try outbox.tables.takeLease(OutboxOptions(), db) }
            try writer.close()
        }
        let writer = try open(.pool, time)
        #expect(try await next(writer) == nil)
        time.update { $0 = 30 }
        #expect(try await next(writer) == ["a"])
        #expect(try await next(writer) == ["b"])
        #expect(try await next(writer) == nil)
    }

    // MARK: - Failures

    @Test func aFailingMessageKeepsTheOrder() async throws {
        let time = Recorded(0.0)
        let writer = try open(.pool, time)
        try make(writer, "a", "b", "c")
        #expect(try await next(writer, failing: ["b"]) == ["a", "b", "c"])
        // A pause of a second, and then one by one.
        #expect(try await next(writer) == nil)
        time.update { $0 += 1 }
        #expect(try await next(writer, failing: ["b"]) == ["a"])
        #expect(try await next(writer, failing: ["b"]) == ["b"])
        time.update { $0 += 1.9 }
        #expect(try await next(writer) == nil)
        time.update { $0 += 0.1 }
        #expect(try await next(writer, failing: ["b"]) == ["b"])
        #expect(try pending(writer) == ["b", "c"])
        time.update { $0 += 4 }
        #expect(try await next(writer) == ["b"])
        #expect(try await next(writer) == ["c"])
    }

    @Test func aMessageIsGivenUp() async throws {
        let time = Recorded(0.0)
        let writer = try open(.pool, time)
        try make(writer, "a", "b")
        let options = OutboxOptions(batch: 1, maximumAttempts: 2)
        for _ in 0..<2 {
            #expect(try await next(writer, options, failing: ["a"]) == ["a"])
            time.update { $0 += 60 }
        }
        #expect(try await next(writer, options) == ["b"])
        let failed = try await writer.read { db in try outbox.failedMessages(db) }
        #expect(failed.map(\.payload) == ["a"])
        #expect(failed.map(\.id) == [1])
        #expect(failed.map(\.failedAttempts) == [2])
        #expect(failed.map(\.error) == ["Failed()"])
        try await writer.write { db in
            try outbox.append("c", db)
            try outbox.retryFailedMessages(db)
        }
        #expect(try await next(writer) == ["a", "c"])
        #expect(try await writer.read { db in try outbox.failedMessages(db) }.isEmpty)
    }

    @Test func aMessageThatComesBackIsNotDeletedWithItsNeighbours() async throws {
        let writer = try open()
        try make(writer, "a", "b", "c")
        try await writer.write { db in
            try db.execute(
                sql:
                    "INSERT INTO email_failed SELECT id, payload, 9, NULL FROM email WHERE id = 2; DELETE FROM email WHERE id = 2"
            )
        }
        let count = try await outbox.deliverNext(from: writer) { messages in
            #expect(messages.map(\.payload) == ["a", "c"])
            try await writer.write { db in try outbox.retryFailedMessages(db) }
        }
        #expect(count == 2)
        #expect(try await next(writer) == ["b"])
    }

    @Test func aPayloadThatCannotBeDecodedIsAFailure() async throws {
        let time = Recorded(0.0)
        let writer = try open(.pool, time)
        try make(writer)
        try await writer.write { db in try db.execute(sql: "INSERT INTO email (payload) VALUES (NULL), ('b')") }
        let options = OutboxOptions(maximumAttempts: 1)
        await expectError(.SQLITE_MISMATCH, "the payload of message 1 of the outbox email is no String") {
            try await outbox.deliverNext(from: writer, options: options) { _ in }
        }
        time.update { $0 += 60 }
        await expectError(.SQLITE_MISMATCH) { try await outbox.deliverNext(from: writer, options: options) { _ in } }
        time.update { $0 += 60 }
        #expect(try await next(writer, options) == ["b"])
    }

    @Test func pausesGrow() {
        let pauses = (0...8).map { OutboxOptions.exponentialBackoff($0) }
        #expect(pauses == [1, 1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    // MARK: - The loop

    @Test(arguments: [WriterKind.pool, .fileQueue]) func newMessagesWakeTheLoop(_ kind: WriterKind) async throws {
        let writer = try open(kind)
        try make(writer, "1")
        let delivered = Recorded<[String]>([])
        let loop = Task {
            // No time passes on this clock: the commits alone wake the loop.
            try await outbox.deliver(from: writer, clock: ManualClock()) { messages in
                delivered.update { $0 += messages.map(\.payload) }
            }
        }
        for number in 1...20 {
            try await until("message \(number)") { delivered.value.count == number }
            try await writer.write { db in _ = try outbox.append("\(number + 1)", db) }
        }
        try await until("all") { delivered.value.count == 21 }
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
        #expect(delivered.value == (1...21).map(String.init))
        try writer.close()
    }

    @Test func theLoopLooksForMessagesOfOtherProcesses() async throws {
        let (writer, other) = (try open(), try open())
        try make(writer)
        let clock = ManualClock()
        let delivered = Step("delivered")
        let loop = Task {
            try await outbox.deliver(from: writer, options: OutboxOptions(pollInterval: .seconds(5)), clock: clock) {
                _ in
                delivered.reach()
            }
        }
        try await until("the loop waits") { clock.sleeperCount == 1 }
        try await other.write { db in _ = try outbox.append("a", db) }
        #expect(!delivered.isReached)
        clock.advance(by: .seconds(5))
        try await delivered.reached()
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
    }

    @Test func theLoopTellsErrorsAndGoesOn() async throws {
        let time = Recorded(0.0)
        let writer = try open(.pool, time)
        try make(writer, "a", "b")
        let clock = ManualClock()
        let (errors, delivered) = (Recorded(0), Recorded<[String]>([]))
        let loop = Task {
            try await outbox.deliver(from: writer, clock: clock, onError: { _ in errors.update { $0 += 1 } }) {
                messages in
                if errors.value == 0 { throw Failed() }
                delivered.update { $0 += messages.map(\.payload) }
            }
        }
        try await until("the pause") { errors.value == 1 && clock.sleeperCount == 1 }
        time.update { $0 += 1 }
        clock.advance(by: .seconds(1))
        try await until("the messages") { delivered.value == ["a", "b"] }
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
        #expect(errors.value == 1)
    }

    /// Cancelled while it delivers, the consumer gives its messages back, and their attempts don't count.
    @Test func aCancelledDeliveryIsGivenBack() async throws {
        let writer = try open()
        try make(writer, "a", "b")
        let (isDelivering, never) = (Step("it delivers"), Step("never"))
        let loop = Task {
            try await outbox.deliver(from: writer, clock: ManualClock()) { _ in
                isDelivering.reach()
                try await withTaskCancellationHandler {
                    try await never.reached()
                    try Task.checkCancellation()
                } onCancel: {
                    never.reach()
                }
            }
        }
        try await isDelivering.reached()
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
        #expect(try await next(writer) == ["a", "b"])
    }

    /// A delivery that succeeds although its task is cancelled is noted.
    @Test func aDeliveryThatEndsAfterTheCancellationCounts() async throws {
        let writer = try open()
        try make(writer, "a", "b")
        let (isDelivering, mayEnd) = (Step("it delivers"), Step("it may end"))
        let loop = Task {
            try await outbox.deliver(from: writer, options: OutboxOptions(batch: 1), clock: ManualClock()) { _ in
                isDelivering.reach()
                try await mayEnd.reached()
            }
        }
        try await isDelivering.reached()
        loop.cancel()
        mayEnd.reach()
        await #expect(throws: CancellationError.self) { try await loop.value }
        // No lease is left.
        #expect(try await next(writer) == ["b"])
    }

    @Test func aLoopThatWaitsIsCancelled() async throws {
        let writer = try open()
        try make(writer)
        let clock = ManualClock()
        let loop = Task { try await outbox.deliver(from: writer, clock: clock) { _ in } }
        try await until("the loop waits") { clock.sleeperCount == 1 }
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
        try await until("its timer ends") { clock.sleeperCount == 0 }
        try writer.close()
    }

    @Test func closingEndsTheLoop() async throws {
        let writer = try open()
        try make(writer)
        let clock = ManualClock()
        let loop = Task { try await outbox.deliver(from: writer, clock: clock) { _ in } }
        try await until("the loop waits") { clock.sleeperCount == 1 }
        try writer.close()
        clock.advance(by: .seconds(1))
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await loop.value }
    }

    /// Consumers with their own connections, one of which fails at random: each message is delivered, the first
    /// deliveries are in order, and no two consumers hold a message at a time.
    @Test(arguments: [UInt64.random(in: 0 ... .max)]) func consumersShareAnOutbox(_ seed: UInt64) async throws {
        let count = 200
        let random = Recorded(SeededGenerator(seed: seed))
        let (held, first, twice) = (Recorded<Set<Int64>>([]), Recorded<[Int64]>([]), Recorded(0))
        let time = Recorded(0.0)
        let writers = try (0..<3).map { _ in try open(.pool, time) }
        try make(writers[0])
        try await withThrowingTaskGroup { group in
            for writer in writers {
                group.addTask {
                    let options = OutboxOptions(batch: 7, pollInterval: .milliseconds(1), backoff: { _ in .zero })
                    try await outbox.deliver(from: writer, options: options) { messages in
                        let ids = messages.map(\.id)
                        held.update { held in
                            if !held.isDisjoint(with: ids) { twice.update { $0 += 1 } }
                            held.formUnion(ids)
                        }
                        defer { held.update { $0.subtract(ids) } }
                        await Task.yield()
                        if random.update({ Int.random(in: 0..<5, using: &$0) }) == 0 { throw Failed() }
                        first.update { first in first += ids.filter { $0 > first.last ?? 0 } }
                    }
                }
            }
            for number in 1...count {
                try await writers[number % 3].write { db in _ = try outbox.append("\(number)", db) }
            }
            try await until("all messages") { first.value.count == count }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        #expect(first.value == (1...Int64(count)).map { $0 }, "seed \(seed)")
        #expect(twice.value == 0, "seed \(seed)")
        #expect(try pending(writers[0]) == [])
    }
}
