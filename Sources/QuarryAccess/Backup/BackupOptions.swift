import QuarryCore

/// How a backup is made.
///
/// ```swift
/// var options = BackupOptions()
/// options.bytesPerSecond = 20 << 20
/// options.check = .integrity
/// try await dbPool.backup(toFile: "/var/backups/players.sqlite", options: options)
/// ```
public struct BackupOptions: Sendable {
    /// The check of the copy before it gets its name.
    public var check = BackupCheck.quick

    /// Whether a file that exists at the path is replaced. It is, as a whole, when the backup is complete. Otherwise it
    /// is an error.
    public var replacesExisting = false

    /// Whether the backup has no unused pages, and its tables are in order: <https://www.sqlite.org/lang_vacuum.html>.
    ///
    /// The copy is then written twice, and both are on the disk for a while. The rowids of a table without an `INTEGER
    /// PRIMARY KEY` may change.
    ///
    /// ```sql
    /// VACUUM INTO ?
    /// ```
    public var compact = false

    /// The number of bytes that are copied in a second at most; nil for no limit. A database in memory is copied
    /// without one.
    public var bytesPerSecond: Int?

    /// The number of pages copied between two calls of `progress`. In between a queue serves other accesses, and a task
    /// can be cancelled.
    public var pagesPerStep = 256

    package var files = FileOperations()

    /// Pauses on a thread, for a number of nanoseconds.
    var sleep: @Sendable (UInt64) -> Void = { pause in
        if pause > 0 { SystemClock.sleep(nanoseconds: pause) }
    }

    /// Pauses a task.
    var sleepAsync: @Sendable (UInt64) async throws -> Void = { pause in
        if pause > 0 { try await Task.sleep(nanoseconds: pause) } else { try Task.checkCancellation() }
    }

    /// The default options.
    public init() {}

    /// Throws for invalid numbers.
    package func check(_ operation: String) throws {
        guard pagesPerStep > 0, pagesPerStep <= Int(CInt.max) else {
            throw DatabaseError.misuse(
                "\(operation): BackupOptions.pagesPerStep must be at least 1, not \(pagesPerStep)")
        }
        guard let bytesPerSecond, bytesPerSecond <= 0 else { return }
        throw DatabaseError.misuse(
            "\(operation): BackupOptions.bytesPerSecond must be at least 1, not \(bytesPerSecond)")
    }
}

/// The check of a backup.
///
/// ```swift
/// options.check = .integrity
/// ```
public enum BackupCheck: Sendable {
    /// No check: also a damaged database is copied.
    case none
    /// The structure of all tables: <https://www.sqlite.org/pragma.html#pragma_quick_check>.
    case quick
    /// As `quick`, and that the indexes have what their tables have:
    /// <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
    case integrity
}

/// A complete backup.
///
/// ```swift
/// let backup = try dbPool.backup(toFile: "/var/backups/players.sqlite")
/// print("\(backup.byteCount) bytes in \(backup.duration)")
/// ```
public struct BackupResult: Sendable {
    /// The path of the file.
    public let path: String

    /// The number of its pages.
    public let pageCount: Int

    /// Its size in bytes.
    public let byteCount: Int

    /// The time that the backup has taken.
    public let duration: Duration

    /// The number of the last commit that the backup has; nil if commits aren't counted. See `CommitNumber`.
    public let commitNumber: CommitNumber?

    /// The check that the backup has passed.
    public let check: BackupCheck
}
