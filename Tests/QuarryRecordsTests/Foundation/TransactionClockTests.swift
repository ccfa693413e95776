import Foundation
import Quarry
import Synchronization
import Testing

@Suite struct TransactionClockTests {
    private final class Ticks: Sendable {
        private let count = Atomic<Int>(0)
        func next() -> Double { Double(count.wrappingAdd(1, ordering: .relaxed).newValue) }
    }

    @Test func aTransactionHasOneDate() throws {
        let ticks = Ticks()
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: ticks.next()) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            let first = try db.transactionDate
            #expect(try db.transactionDate == first)
            #expect(first.timeIntervalSince1970 == 1)
        }
        try queue.read { db in
            let first = try db.transactionDate
            #expect(try db.transactionDate == first)
            #expect(first.timeIntervalSince1970 == 2)
        }
        try queue.inDatabase { db in
            let first = try db.transactionDate
            #expect(try db.transactionDate > first)
        }
    }

    @Test func theSystemsClock() throws {
        let queue = try DatabaseQueue()
        let before = Date()
        let date = try queue.write { db in try db.transactionDate }
        let after = Date()
        #expect((before...after).contains(date))
        #expect(queue.configuration.transactionClock is DefaultTransactionClock)
    }

    @Test func aClockThatThrows() throws {
        struct Stopped: Error {}
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in throw Stopped() }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            #expect(throws: Stopped.self) { _ = try db.transactionDate }
            try db.execute(sql: "CREATE TABLE t (a)")
        }
        #expect(configuration.transactionClock is CustomTransactionClock)
    }

    @Test func everyConnectionHasThePredefinedFunctions() throws {
        let queue = try DatabaseQueue()
        #expect(try queue.read { db in try String.fetchOne(db, sql: "SELECT swiftLowercaseString('ÉA')") } == "éa")
        #expect(
            try queue.read { db in
                try Int.fetchOne(db, sql: "SELECT 'a' = 'A' COLLATE swiftCaseInsensitiveCompare")
            } == 1)
    }
}
