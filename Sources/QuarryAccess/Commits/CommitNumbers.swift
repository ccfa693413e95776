/// Where the numbers of commits come from.
///
/// ```swift
/// var config = Configuration()
/// config.commitNumbers = .stored
/// let dbPool = try DatabasePool(path: path, configuration: config)
/// ```
///
/// See `CommitNumber`.
public enum CommitNumbers: Sendable {
    /// Each queue or pool counts the commits that it sees, from 1.
    case counted

    /// The file keeps the number of the last commit, in the table `grdb_commit_number`, and each transaction that
    /// changes something writes the next one. So a commit has the same number in each process that opens the file with
    /// this setting, and after a restart.
    ///
    /// Opening creates the table. The number is written in the transaction that it numbers, which takes two to four
    /// microseconds, and is in the file exactly if the commit is. A statement outside a transaction, and a blob that is
    /// written outside one, get a transaction of their own, with `BEGIN IMMEDIATE`.
    ///
    /// Some commits can't write a number, and have the number of the commit before: `PRAGMA`, `VACUUM`, a content that
    /// is replaced as a whole (`deserialize`, a backup into this database), commits through SQLite's C functions, and
    /// those of programs without this setting. A content that replaces another brings its own number along; this queue
    /// or pool goes on with the higher of both. `restore(from:)` writes the next number.
    case stored
}

extension Configuration {
    /// Where the numbers of commits come from. See `CommitNumber`.
    ///
    /// ```swift
    /// config.commitNumbers = .stored // the same in each process, and after a restart
    /// ```
    public var commitNumbers: CommitNumbers {
        get { settings[CommitNumbers.self] ?? .counted }
        set { settings[CommitNumbers.self] = newValue }
    }
}
