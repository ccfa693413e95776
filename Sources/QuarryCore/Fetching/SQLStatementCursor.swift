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
    /// - throws: `DatabaseError` if the SQL is wrong, if arguments are missing, or if some are left over at the last
    ///   statement; `CancellationError` in a cancelled task.
    public func next() throws -> Statement? {
        try database.checkAccess()
        try database.checkCancellation()
        return try database.withSQL(sql) { text in
            // Checked once: checking for each statement would read the whole text each time.
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
