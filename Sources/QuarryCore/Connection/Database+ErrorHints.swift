// SQLite's message says what has failed. The connection often knows why, and the cure: `description` shows both after
// the message, which stays SQLite's, because programs compare it.

extension Database {
    /// The text that follows a message of SQLite's; nil if there is nothing to add.
    ///
    /// - parameter sql: the statement that has failed. The last error of the connection stays its error.
    @inline(never)
    func hint(_ code: ResultCode, _ message: String, sql: String?) -> String? {
        switch code.rawValue {
        case ResultCode.SQLITE_ERROR.rawValue:
            if message.hasPrefix("no such table: ") { return hintOfMissingTable(sql: sql) }
            if message.hasPrefix("fts5: syntax error") || message == "unterminated string" {
                return ": FTS5Pattern(matchingAllTokensIn:) makes a pattern of any text"
            }
            if message.hasPrefix("malformed MATCH expression") {
                return ": FTS3Pattern(matchingAllTokensIn:) makes a pattern of any text"
            }
            return nil
        // Other errors with this code have other messages: of statements that still run, for example.
        case ResultCode.SQLITE_BUSY.rawValue where message == SQLiteLibrary.errorString(code.rawValue):
            return hintOfLock
        case ResultCode.SQLITE_READONLY.rawValue where options.readonly:
            return hintOfReadOnly
        default:
            return nil
        }
    }

    /// The reason why the connection, or the access, may not write.
    package var hintOfReadOnly: String {
        // A collation or tokenizer may never write.
        if access.isSealed { return "" }
        return options.isOfReadonlyDatabase ? " (Configuration.readonly)" : " (in a read: use write)"
    }

    private var hintOfLock: String {
        let holder = ", by another connection (another process or pool?)"
        // The locked file may be an attached one.
        let name = schemaMemory.hasAttached ? "" : ": \(description)"
        switch options.busyMode {
        case .timeout(let seconds) where clocks.busy.endedInVain == lifetime.counters.runStatements.value:
            return "\(name), for \(seconds) seconds (Configuration.busyMode)\(holder)"
        case .immediateError:
            return "\(name)\(holder), while Configuration.busyMode is .immediateError"
        case .timeout, .callback:
            return "\(name)\(holder)"
        }
    }

    /// The error for a table that must exist: "no such table: main.player".
    package func noSuchTable(_ name: String, in schemaName: String? = nil) -> DatabaseError {
        let error = DatabaseError(message: "no such table: \(schemaName.map { $0 + "." } ?? "")\(name)")
        return hintOfMissingTable(sql: nil).map { error.with(circumstances: $0) } ?? error
    }

    /// A hint of migrations, if no schema has a table.
    private func hintOfMissingTable(sql: String?) -> String? {
        // The schema of a remote database is only a part of it.
        guard route == nil, lifetime.isOwned else { return nil }
        let refusesToWait = access.refusesToWait
        access.refusesToWait = true
        defer { access.refusesToWait = refusesToWait }
        let hasTable = try? hasTable
        if let sql { restoreError(ofSQL: sql) }
        guard hasTable == false else { return nil }
        return ": the database\(mainFilePath.map { " \($0)" } ?? "") has no table at all (was it migrated?)"
    }

    /// Whether any schema has a table that isn't SQLite's or the library's.
    private var hasTable: Bool {
        get throws(LookupFailure) {
            try allTables().contains { table in
                !table.name.hasPrefix("sqlite_") && table.name != Self.commitNumberTable
            }
        }
    }
}
