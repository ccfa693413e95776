/// The part of a configuration that concerns a single connection.
package struct ConnectionOptions: Sendable {
    package var label: String?
    package var readonly = false
    /// Whether no connection of the database may write, and not only this one.
    package var isOfReadonlyDatabase = false
    package var foreignKeysEnabled = true
    package var acceptsDoubleQuotedStringLiterals = false
    package var publicStatementArguments = false
    package var allowsUnsafeTransactions = false
    package var allowsLoadingExtensions = false
    package var busyMode: Database.BusyMode = .timeout(5)
    /// The longest time a statement may run, in seconds.
    package var statementTimeout: Double?
    /// The number of statements that a connection keeps.
    package var statementCacheCapacity = 128
    /// The name of a registered VFS: <https://www.sqlite.org/vfs.html>.
    package var vfs: String?
    /// Whether a path that begins with `file:` is a URI rather than a file name: <https://www.sqlite.org/uri.html>.
    package var acceptsURIs = true
    /// The permissions of a file that opening creates: the bits of `chmod`. nil for SQLite's.
    package var filePermissions: UInt16?
    /// Whether functions and virtual tables that the file's schema uses may have side effects:
    /// <https://www.sqlite.org/pragma.html#pragma_trusted_schema>.
    package var trustedSchema = true
    /// Whether SQL is kept from damaging the file:
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive>.
    package var isDefensive = false
    /// Whether opening reads the schema to check that the file is usable. False for further connections to the same
    /// file.
    package var checksSchema = true
    /// Whether the file keeps the number of the last commit.
    package var storesCommitNumbers = false
    /// Whether a pool's readers use the same file, so that `deserialize` would separate them from the writer.
    package var isWriterOfPool = false
    /// `PRAGMA name = value` statements to run after opening.
    package var pragmas: [String] = []
    /// Returns seconds since the reference date, 2001-01-01 00:00:00 UTC; nil for the system's clock.
    package var transactionClock: (@Sendable (Database) throws -> Double)?
    /// The clock of timeouts and durations.
    package var monotonicClock = MonotonicClock.system

    package init() {}
}
