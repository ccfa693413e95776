import Quarry

/// Why an access may fail under load.
enum Refusal: String, Hashable, Comparable {
    case cancelled
    case interrupted
    case aborted
    /// Another write of the same shared transaction was interrupted in a change, which rolls all of them back.
    case sharedTransactionLost
    case statementTimeout
    case acquireTimeout
    case tooManyWaiters
    case closed
    /// The connection of another access.
    case foreignConnection
    /// The account has less than was asked for.
    case poor
    /// Readers don't let a checkpoint finish.
    case busyCheckpoint

    static func < (left: Refusal, right: Refusal) -> Bool { left.rawValue < right.rawValue }

    /// nil for an error that nothing of this explains.
    init?(_ error: any Error) {
        if error is CancellationError {
            self = .cancelled
        } else if error is Poor {
            self = .poor
        } else if let error = error as? DatabaseError, let refusal = Self.of(error, error.message ?? "") {
            self = refusal
        } else {
            return nil
        }
    }

    private static func of(_ error: DatabaseError, _ message: String) -> Refusal? {
        switch error.resultCode {
        case .SQLITE_INTERRUPT where message.hasSuffix("interrupted"): .interrupted
        case .SQLITE_ABORT where message == "Transaction was aborted": .aborted
        case .SQLITE_ABORT where message.hasPrefix("the transaction that this write shared"): .sharedTransactionLost
        case .SQLITE_INTERRUPT where message.hasPrefix("statement timeout: "): .statementTimeout
        case .SQLITE_BUSY where message.hasSuffix("(Configuration.acquireTimeout)"): .acquireTimeout
        case .SQLITE_BUSY where message.hasSuffix("(Configuration.maximumWaiters)"): .tooManyWaiters
        case .SQLITE_MISUSE where message == "Connection is closed": .closed
        case .SQLITE_MISUSE where message == "Database was not used on the correct thread.": .foreignConnection
        case .SQLITE_MISUSE where message == "Database was used outside of its access.": .foreignConnection
        default: nil
        }
    }
}

/// An account has less than was asked for.
struct Poor: Error {}
