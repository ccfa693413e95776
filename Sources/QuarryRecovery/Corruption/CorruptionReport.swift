public import Quarry
public import QuarryCore

/// Damage of a database file, as confirmed by a check.
///
/// ```swift
/// config.onCorruption { event in
///     if case .confirmed(let report) = event { alert("\(report.path) is damaged: \(report.integrity)") }
/// }
/// ```
public struct CorruptionReport: Sendable {
    /// The path of the file.
    public let path: String
    /// `Configuration.label`.
    public let label: String?
    /// The first error: `SQLITE_CORRUPT`, `SQLITE_NOTADB`.
    public let error: DatabaseError
    /// The problems of the file.
    public let integrity: IntegrityReport
    /// The file. If another one has its path, that one isn't damaged.
    public let file: FileIdentity

    /// The SQL that failed first; nil if a check has found the damage.
    public var sql: String? { error.sql }
}

/// An event in the life of a database whose file may be damaged.
///
/// ```swift
/// config.onCorruption { event in logger.critical("\(event)") }
/// ```
///
/// See `Configuration.onCorruption(_:)`.
public enum CorruptionEvent: Sendable {
    /// A check has confirmed that the file is damaged.
    case confirmed(CorruptionReport)
    /// A statement has failed as with a damaged file, but a check of the main database has found nothing: a function of
    /// the program has thrown `SQLITE_CORRUPT`, or an attached database is damaged. For a while, such errors are not
    /// checked again.
    case falseAlarm(DatabaseError)
    /// The damaged file, with its log, was copied: `players.sqlite.corrupt-20260131T120000Z`.
    case quarantined(CorruptionReport, path: String)
    /// The file was found in order before anything was done: the program, or another process, has restored it.
    case repaired(CorruptionReport)
    /// The content was replaced by that of a backup.
    case restored(CorruptionReport, fromPath: String)
    /// A check or a reaction has failed.
    case failed(path: String, any Error)
}

/// The reaction to damage that a check has confirmed.
///
/// ```swift
/// config.corruptionPolicy = .handle { report in
///     await pager.alert("\(report.path) is damaged")
///     return .quarantine
/// }
/// ```
public enum CorruptionPolicy: Sendable {
    /// The damage is reported. Reads and writes go on.
    case report
    /// From the confirmation on, accesses can only read: writes throw `SQLITE_CORRUPT`, "… is damaged". Restoring or
    /// replacing the file lets them write again, and so does a `checkIntegrity` that finds nothing, after another
    /// process has restored it.
    case readOnly
    /// A closure decides. It runs on a thread of the library, and may use the database.
    case handle(@Sendable (CorruptionReport) async -> CorruptionAction)
}

/// The decision about a damaged file.
///
/// ```swift
/// config.corruptionPolicy = .handle { _ in .restore(fromPath: "/var/backups/players.sqlite") }
/// ```
public enum CorruptionAction: Sendable, Hashable {
    /// Nothing happens.
    case none
    /// Accesses can only read from now on.
    case readOnly
    /// The damaged file, with its log, is copied beside it, and accesses can only read from now on.
    case quarantine
    /// The damaged file, with its log, is copied beside it. Then its content is replaced by that of a backup, which is
    /// checked first. If that fails, accesses can only read. If the file is in order by then, nothing is replaced.
    case restore(fromPath: String)
}

extension Configuration {
    /// The reaction to damage of the file that a check has confirmed. See `CorruptionPolicy`.
    ///
    /// ```swift
    /// config.corruptionPolicy = .readOnly
    /// ```
    public var corruptionPolicy: CorruptionPolicy {
        get { corruption.policy }
        set { corruption.policy = newValue }
    }

    /// Set by `onCorruption`.
    var corruptionHandler: (@Sendable (CorruptionEvent) -> Void)? { corruption.handler }

    private var corruption: CorruptionHandling {
        get { settings[CorruptionHandling.self] ?? CorruptionHandling() }
        set { settings[CorruptionHandling.self] = newValue }
    }

    /// Whether damage that errors show has a receiver.
    var handlesCorruption: Bool {
        if case .report = corruptionPolicy { corruptionHandler != nil } else { true }
    }

    /// Tells of damage of the file.
    ///
    /// ```swift
    /// config.onCorruption { event in
    ///     if case .confirmed(let report) = event { logger.critical("\(report.path): \(report.integrity)") }
    /// }
    /// ```
    ///
    /// An error `SQLITE_CORRUPT` or `SQLITE_NOTADB`, or a check that finds problems, makes a connection that can only
    /// read check the whole file, once, on a thread of the library. The closure runs on that thread. A check ends by
    /// itself, even if the database is closed meanwhile. Without a closure, and with the policy `report`, nothing is
    /// checked.
    ///
    /// - parameter handler: replaces an earlier one.
    public mutating func onCorruption(_ handler: @escaping @Sendable (CorruptionEvent) -> Void) {
        corruption.handler = handler
    }
}

private struct CorruptionHandling: FollowingSetting {
    var policy = CorruptionPolicy.report
    var handler: (@Sendable (CorruptionEvent) -> Void)?

    var comparison: (name: String, value: String)? {
        if case .report = policy { return nil }
        return ("corruptionPolicy", String(describing: policy))
    }

    func databaseWillOpen(_ core: DatabaseCore) { _ = core.corruption }
}
