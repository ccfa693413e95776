/// What a connection is opened with: the part of a configuration that concerns one connection.
package struct ConnectionOptions: Sendable {
    package var label: String?
    package var readonly = false
    package var foreignKeysEnabled = true
    package var acceptsDoubleQuotedStringLiterals = false
    package var publicStatementArguments = false
    package var allowsUnsafeTransactions = false
    package var allowsLoadingExtensions = false
    package var busyMode: Database.BusyMode = .timeout(5)
    /// Seconds a statement may run.
    package var statementTimeout: Double?
    /// How many statements a connection keeps.
    package var statementCacheCapacity = 128
    /// The name of a registered VFS: <https://www.sqlite.org/vfs.html>.
    package var vfs: String?
    /// Whether a path that begins with `file:` is a URI, and no file of that name: <https://www.sqlite.org/uri.html>.
    package var acceptsURIs = true
    /// Whether what the file's schema calls may have side effects:
    /// <https://www.sqlite.org/pragma.html#pragma_trusted_schema>.
    package var trustedSchema = true
    /// Whether SQL can't damage the file:
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive>.
    package var isDefensive = false
    /// Whether opening reads the schema, to find out whether the file can be used: not for further connections to it.
    package var checksSchema = true
    /// Whether the readers of a pool use the same file: `deserialize` would leave them there.
    package var isWriterOfPool = false
    /// `PRAGMA name = value` statements that follow the opening.
    package var pragmas: [String] = []
    /// Seconds since the reference date, 2001-01-01 00:00:00 UTC; nil for the system's clock.
    package var transactionClock: (@Sendable (Database) throws -> Double)?

    package init() {}
}
