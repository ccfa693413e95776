/// How the commits of other processes are noticed, and those of other queues and pools on the same file.
///
/// ```swift
/// var config = Configuration()
/// config.otherProcesses = .polled(every: 1)
/// let dbPool = try DatabasePool(path: "/mnt/shared/players.sqlite", configuration: config)
/// ```
///
/// Nothing is done before observations or commits are asked for. A queue or pool that writes notices the others at each
/// of its own transactions, unless they are ignored.
public struct OtherProcesses: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// - parameter polling: the seconds between two looks if the system can't watch the files.
        case watched(polling: Double)
        /// - parameter interval: the seconds between two looks.
        case polled(interval: Double)
        case ignored
    }

    let kind: Kind

    /// The system tells when the files change: <https://man7.org/linux/man-pages/man7/inotify.7.html>. Where it can't,
    /// the database is looked at every 0.2 seconds.
    public static let watched = OtherProcesses.watched(pollingInterval: 0.2)

    /// As `watched`.
    ///
    /// ```swift
    /// config.otherProcesses = .watched(pollingInterval: 2)
    /// ```
    ///
    /// - parameter seconds: the time between two looks if the system can't watch the files.
    public static func watched(pollingInterval seconds: Double) -> OtherProcesses {
        OtherProcesses(kind: .watched(polling: seconds))
    }

    /// The database is looked at again and again: for a file system that doesn't tell of the changes of other machines.
    ///
    /// ```swift
    /// config.otherProcesses = .polled(every: 0.5)
    /// ```
    ///
    /// - parameter seconds: the time between two looks.
    public static func polled(every seconds: Double) -> OtherProcesses {
        OtherProcesses(kind: .polled(interval: seconds))
    }

    /// The commits of others aren't noticed.
    public static let ignored = OtherProcesses(kind: .ignored)

    /// The seconds between two looks, where looks are made at intervals.
    var interval: Double? {
        switch kind {
        case .watched(let seconds), .polled(let seconds): seconds
        case .ignored: nil
        }
    }
}
