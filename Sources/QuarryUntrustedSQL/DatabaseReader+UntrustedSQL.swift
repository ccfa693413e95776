public import Quarry
public import QuarryCore

extension DatabaseReader {
    /// Runs one query of a user in its own read, within the bounds of a policy.
    ///
    /// ```swift
    /// var policy = UntrustedSQLPolicy()
    /// policy.allowTable("player", columns: ["id", "name"])
    /// let result = try dbPool.fetchUntrusted("SELECT name FROM player WHERE id = ?", arguments: [1], policy: policy)
    /// ```
    ///
    /// - parameter sql: one SELECT, from the user.
    /// - parameter arguments: the values of its parameters.
    /// - parameter policy: what the SQL may read, and how much of the machine it may use.
    /// - returns: all rows.
    /// - throws: `SQLITE_AUTH` if the SQL does what isn't allowed, `SQLITE_TOOBIG` if it or its result is too large,
    ///   `SQLITE_INTERRUPT` after the policy's timeout; other errors of the SQL; the errors of `read`.
    public func fetchUntrusted(
        _ sql: String, arguments: StatementArguments = StatementArguments(), policy: UntrustedSQLPolicy
    ) throws -> UntrustedSQLResult {
        try read { db in try db.fetchUntrusted(sql, arguments, policy) }
    }

    /// As the synchronous `fetchUntrusted`; waiting suspends the task, and the query runs on the library's threads.
    ///
    /// ```swift
    /// let result = try await dbPool.fetchUntrusted("SELECT name FROM player", policy: policy)
    /// ```
    ///
    /// - throws: the errors of the synchronous `fetchUntrusted`; `CancellationError`.
    public func fetchUntrusted(
        _ sql: String, arguments: StatementArguments = StatementArguments(), policy: UntrustedSQLPolicy
    ) async throws -> UntrustedSQLResult {
        guard let reader = groupReader else { throw DatabaseError.foreignReader() }
        // Wherever other reads run: this one may take its whole timeout.
        return try await reader.readers.perform(AccessRequest(reader.readRequest.kind, .offloaded)) { db in
            try db.fetchUntrusted(sql, arguments, policy)
        }
    }
}

extension Database {
    fileprivate func fetchUntrusted(
        _ sql: String, _ arguments: StatementArguments, _ policy: UntrustedSQLPolicy
    ) throws -> UntrustedSQLResult {
        try withUntrustedSQL(policy) {
            let statement = try makeStatement(sql: sql)
            var result = UntrustedSQLResult(columns: statement.columnNames, rows: [])
            var byteCount = result.columns.reduce(0) { $0 + $1.utf8.count }
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            while let row = try rows.next() {
                guard result.rows.count < policy.maximumRowCount else {
                    throw Self.isTooLarge(
                        "the result has more than \(policy.maximumRowCount) rows", "maximumRowCount", sql)
                }
                let values = Array(row.databaseValues)
                byteCount += values.reduce(0) { $0 + $1.byteCount }
                guard byteCount <= policy.maximumByteCount else {
                    throw Self.isTooLarge(
                        "the result has more than \(policy.maximumByteCount) bytes", "maximumByteCount", sql)
                }
                result.rows.append(values)
            }
            return result
        }
    }

    private static func isTooLarge(_ message: String, _ setting: String, _ sql: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_TOOBIG, message: "\(message) (UntrustedSQLPolicy.\(setting))", sql: sql)
    }
}

extension DatabaseValue {
    /// The bytes that count for a limit.
    fileprivate var byteCount: Int {
        switch rawStorage {
        case .null: 1
        case .int64, .double: 8
        case .string(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}
