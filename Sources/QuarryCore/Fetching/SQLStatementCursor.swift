/// Prepares the statements of some SQL one after the other.
public final class SQLStatementCursor: Cursor {
    private let database: Database
    private let sql: String
    private var arguments: ArgumentCursor?
    private var start = 0
    private var isChecked = false

    init(_ database: Database, sql: String, arguments: StatementArguments?) {
        self.database = database
        self.sql = sql
        self.arguments = arguments.map { ArgumentCursor($0) }
    }

    /// The next statement with its arguments set, or nil after the last.
    ///
    /// - throws: `DatabaseError` if the SQL is wrong, arguments are missing, or left over at the last statement;
    ///   `CancellationError` in a task that is cancelled.
    public func next() throws -> Statement? {
        try database.checkAccess()
        try database.checkCancellation()
        return try database.withSQL(sql) { text in
            // Once: each statement would look through the whole text again.
            if !isChecked { try database.checkNoNUL(text, sql) }
            isChecked = true
            while start < text.count {
                let (statement, end) = try database.prepare(text, from: start, sql: sql, persistent: false)
                start = end
                guard let statement else { continue }
                if var cursor = arguments {
                    let values = try cursor.values(for: statement)
                    if database.isEnd(of: sql, at: start) { try cursor.finish(sql: sql) }
                    statement.bound.give(cursor.arguments, values: values)
                    arguments = cursor
                }
                return statement
            }
            try arguments?.finish(sql: sql)
            return nil
        }
    }
}

extension Database {
    /// The statements of some SQL, prepared one after the other.
    ///
    /// ```swift
    /// let statements = try db.allStatements(sql: """
    ///     CREATE TABLE player (name TEXT);
    ///     INSERT INTO player VALUES (?);
    ///     """, arguments: ["Arthur"])
    /// while let statement = try statements.next() { try statement.execute() }
    /// ```
    ///
    /// Each is prepared when it is asked for: it sees the tables that those before it have made.
    ///
    /// - parameter arguments: the arguments of all; nil to set none. Where some are left over, the cursor throws
    ///   instead of giving the last statement.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        try checkAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }
}
