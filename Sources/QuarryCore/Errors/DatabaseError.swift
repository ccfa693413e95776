/// An error reported by SQLite, or by Quarry in SQLite's terms.
///
/// ```swift
/// do {
///     try db.execute(sql: "INSERT INTO player (teamId) VALUES (?)", arguments: [1])
/// } catch let error as DatabaseError {
///     error.resultCode          // SQLITE_CONSTRAINT
///     error.extendedResultCode  // SQLITE_CONSTRAINT_FOREIGNKEY
///     error.message             // "FOREIGN KEY constraint failed"
///     error.sql                 // "INSERT INTO player (teamId) VALUES (?)"
/// }
/// ```
///
/// Misuse of the library (a reentrant access, a closed connection, wrong arguments) has the code `SQLITE_MISUSE`.
/// See <https://www.sqlite.org/rescode.html>.
public struct DatabaseError: Error, Sendable {
    // One reference, so that functions that don't throw only pay for a word.
    private let content: Content

    private final class Content: Sendable {
        let extendedResultCode: ResultCode
        let message: String?
        let sql: String?
        let arguments: StatementArguments?
        let publicStatementArguments: Bool
        let circumstances: String?
        let isTraced: Bool

        init(
            extendedResultCode: ResultCode, message: String?, sql: String?, arguments: StatementArguments?,
            publicStatementArguments: Bool, circumstances: String?, isTraced: Bool
        ) {
            self.extendedResultCode = extendedResultCode
            self.message = message
            self.sql = sql
            self.arguments = arguments
            self.publicStatementArguments = publicStatementArguments
            self.circumstances = circumstances
            self.isTraced = isTraced
        }
    }

    /// An error with a result code, primary or extended.
    ///
    /// ```swift
    /// throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "a team has at most 11 players")
    /// ```
    ///
    /// - parameter resultCode: SQLite's code.
    /// - parameter message: a description of the problem; nil for SQLite's text for the code.
    /// - parameter sql: the statement that failed.
    /// - parameter arguments: the arguments of that statement.
    /// - parameter publicStatementArguments: whether `description` shows the arguments.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR,
        message: String? = nil,
        sql: String? = nil,
        arguments: StatementArguments? = nil,
        publicStatementArguments: Bool = false
    ) {
        content = Content(
            extendedResultCode: resultCode, message: message ?? SQLiteLibrary.errorString(resultCode.rawValue),
            sql: sql, arguments: arguments,
            publicStatementArguments: publicStatementArguments, circumstances: nil, isTraced: false)
    }

    private init(
        _ error: DatabaseError, sql: String?, arguments: StatementArguments?, circumstances: String?, isTraced: Bool
    ) {
        content = Content(
            extendedResultCode: error.extendedResultCode, message: error.message, sql: sql,
            arguments: arguments, publicStatementArguments: error.publicStatementArguments,
            circumstances: circumstances, isTraced: isTraced)
    }

    /// Whether tracers have been told of the error, so that they aren't told again where it is thrown.
    package var isTraced: Bool { content.isTraced }

    /// The same error, of which tracers have been told.
    package func asTraced() -> DatabaseError {
        DatabaseError(self, sql: sql, arguments: arguments, circumstances: circumstances, isTraced: true)
    }

    /// The primary code, such as `SQLITE_CONSTRAINT`.
    public var resultCode: ResultCode { content.extendedResultCode.primaryResultCode }

    /// The extended code, such as `SQLITE_CONSTRAINT_UNIQUE`.
    ///
    /// See <https://www.sqlite.org/rescode.html#primary_result_codes_versus_extended_result_codes>.
    public var extendedResultCode: ResultCode { content.extendedResultCode }

    /// The message; SQLite's own text if SQLite reported the error.
    public var message: String? { content.message }

    /// The text that `description` shows after the message: the file that couldn't be opened, and the system's reason.
    package var circumstances: String? { content.circumstances }

    /// The SQL of the statement that failed.
    public var sql: String? { content.sql }

    /// The arguments of the statement that failed.
    ///
    /// `description` shows them only if `Configuration.publicStatementArguments` is true.
    public var arguments: StatementArguments? { content.arguments }

    /// Whether `description` shows the arguments.
    public var publicStatementArguments: Bool { content.publicStatementArguments }

    /// The same error with the arguments of the statement.
    package func with(_ arguments: StatementArguments) -> DatabaseError {
        DatabaseError(self, sql: sql, arguments: arguments, circumstances: circumstances, isTraced: isTraced)
    }

    /// The same error with the SQL of the statement.
    package func with(sql: String?) -> DatabaseError {
        DatabaseError(self, sql: sql, arguments: arguments, circumstances: circumstances, isTraced: isTraced)
    }

    /// The same error with a text for `description`, which follows the message: ` - while opening players.sqlite`.
    package func with(circumstances: String) -> DatabaseError {
        DatabaseError(
            self, sql: sql, arguments: arguments, circumstances: (content.circumstances ?? "") + circumstances,
            isTraced: isTraced)
    }

    /// Whether the error reports that a statement or transaction was interrupted: `SQLITE_INTERRUPT` or `SQLITE_ABORT`.
    ///
    /// See <https://www.sqlite.org/c3ref/interrupt.html>.
    public var isInterruptionError: Bool {
        switch resultCode {
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: true
        default: false
        }
    }
}

extension DatabaseError: CustomStringConvertible {
    /// `SQLite error 19: UNIQUE constraint failed: player.id - while executing …`; shows the arguments only if they are
    /// public.
    public var description: String {
        describe(withArguments: publicStatementArguments)
    }

    /// As `description`, with the arguments.
    ///
    /// - warning: arguments may hold data that logs must not: passwords, names, addresses.
    public var expandedDescription: String {
        describe(withArguments: true)
    }

    private func describe(withArguments showsArguments: Bool) -> String {
        var text = "SQLite error \(resultCode.rawValue)"
        text += ": " + (message ?? SQLiteLibrary.errorString(extendedResultCode.rawValue))
        if let circumstances { text += circumstances }
        if let sql {
            text += " - while executing `\(sql)`"
        }
        if showsArguments, let arguments, !arguments.isEmpty {
            text += " with arguments \(arguments)"
        }
        return text
    }
}

extension DatabaseError {
    /// Wrong use of the library: `SQLITE_MISUSE`.
    @usableFromInline
    package static func misuse(
        _ message: String, sql: String? = nil, arguments: StatementArguments? = nil
    ) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql, arguments: arguments)
    }

    /// - parameter name: the connection that the thread has, in messages: `the writer of players.sqlite`.
    package static func reentrantAccess(_ name: String) -> DatabaseError {
        misuse("Database methods are not reentrant.").with(
            circumstances:
                " This thread already has \(name): pass its db to functions instead of using the database in them.")
    }

    package static func wrongThread() -> DatabaseError {
        misuse("Database was not used on the correct thread.")
    }

    package static func outsideAccess() -> DatabaseError {
        misuse("Database was used outside of its access.")
    }

    package static func backupToItself() -> DatabaseError {
        misuse("a database can't be backed up to itself")
    }

    /// - parameter name: the connection in messages, if it is known.
    package static func connectionIsClosed(_ name: String? = nil) -> DatabaseError {
        let error = misuse("Connection is closed")
        return name.map { error.with(circumstances: ": \($0)") } ?? error
    }
}
