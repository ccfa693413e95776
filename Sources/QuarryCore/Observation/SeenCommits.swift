/// The commits of the main database that a connection knows: its own, and those of others that it has told. A value.
///
/// SQLite has two numbers for the state that a connection sees. `SQLITE_FCNTL_DATA_VERSION` is cheap, and changes with
/// the connection's own commits too. `PRAGMA data_version` changes with those of other connections alone:
/// <https://www.sqlite.org/pragma.html#pragma_data_version>. So the first is compared, and the second is read if the
/// first isn't as expected.
struct SeenCommits: Equatable {
    /// The value of `SQLITE_FCNTL_DATA_VERSION` after the known commits; nil if it isn't known.
    private(set) var control: UInt32?

    /// The value of `PRAGMA data_version`; nil before it was read.
    private(set) var version: Int64?

    /// - parameter control: the value that the connection has seen in its last transaction. No lock is needed to read
    ///   it.
    init(control: UInt32?) { self.control = control }

    /// A commit of this connection has added pages to the log, which counts one.
    mutating func ownCommitDidGrowLog() { control? &+= 1 }

    /// A transaction has ended before which other connections can't have committed.
    mutating func ownTransactionDidEnd(control now: UInt32?) { control = now }

    /// Whether `PRAGMA data_version` has to be read.
    func isUncertain(control now: UInt32?) -> Bool { version == nil || control == nil || control != now }

    /// Both numbers were read in a transaction.
    ///
    /// - returns: whether other connections have committed since the last call. The first call also says so if commits
    ///   of this connection were not told.
    mutating func note(version newVersion: Int64, control now: UInt32?) -> Bool {
        defer { (version, control) = (newVersion, now) }
        return version.map { $0 != newVersion } ?? (control != now)
    }
}
