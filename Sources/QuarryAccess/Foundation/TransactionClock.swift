public import Foundation
public import QuarryCore

/// A clock for the dates of transactions.
///
/// ```swift
/// var config = Configuration()
/// config.transactionClock = .custom { _ in Date(timeIntervalSince1970: 0) }
/// ```
public protocol TransactionClock: Sendable {
    /// The date of the current transaction, which has begun, or the current date outside a transaction.
    ///
    /// - throws: any error: `Database.transactionDate` throws it.
    func now(_ db: Database) throws -> Date
}

/// The system's clock.
public struct DefaultTransactionClock: TransactionClock {
    /// The current date.
    ///
    /// - throws: nothing.
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A clock that calls a closure.
///
/// ```swift
/// var config = Configuration()
/// config.transactionClock = .custom { db in Date(timeIntervalSince1970: 0) }
/// ```
public struct CustomTransactionClock: TransactionClock {
    private let date: @Sendable (Database) throws -> Date

    /// A clock that returns the date of `now`.
    public init(_ now: @escaping @Sendable (Database) throws -> Date) { date = now }

    /// The date that the closure returns.
    ///
    /// - throws: the closure's error.
    public func now(_ db: Database) throws -> Date { try date(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The system's clock.
    public static var `default`: DefaultTransactionClock { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// A clock that calls a closure.
    public static func custom(_ now: @escaping @Sendable (Database) throws -> Date) -> CustomTransactionClock {
        CustomTransactionClock(now)
    }
}

extension Configuration {
    /// The clock of `Database.transactionDate`.
    public var transactionClock: any TransactionClock {
        get { chosenClock as? any TransactionClock ?? DefaultTransactionClock() }
        set {
            chosenClock = newValue
            // The system's clock is read without Foundation.
            if newValue is DefaultTransactionClock {
                clock = nil
            } else {
                clock = { db in try newValue.now(db).timeIntervalSinceReferenceDate }
            }
        }
    }
}

extension Database {
    /// The date of the current transaction, the same throughout; the current date outside a transaction.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO visit (date) VALUES (?)", arguments: [db.transactionDate])
    /// }
    /// ```
    ///
    /// - throws: the error of the configuration's clock.
    public var transactionDate: Date {
        get throws { Date(timeIntervalSinceReferenceDate: try secondsOfTransaction) }
    }
}
