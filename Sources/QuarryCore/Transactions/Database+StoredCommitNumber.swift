// The number of the last commit in the file, which each commit of the library increases:
//
//     CREATE TABLE grdb_commit_number (id INTEGER PRIMARY KEY CHECK (id = 1), number TEXT NOT NULL)
//
// The number is a text of 19 digits, so that its length never changes, and a blob handle can overwrite it: that takes
// half a microsecond, counts as no change of `sqlite3_changes`, and reaches no observer. An UPDATE would take four.

extension Database {
    static let commitNumberTable = "grdb_commit_number"

    /// Keeps the number of the last commit in the file from now on. Creates its table if it is missing.
    ///
    /// - throws: `DatabaseError`.
    package func storeCommitNumbers() throws {
        if watchers.storedCommitNumber == nil, try readCommitNumber() == nil {
            try inTransaction(.immediate) {
                try makeCommitNumberTable(atLeast: 0)
                return .commit
            }
        }
        watchers.storedCommitNumber = StoredCommitNumber(last: try readCommitNumber() ?? 0)
    }

    /// The number of the last commit that this connection knows; nil if the file keeps none.
    package var lastStoredCommitNumber: Int? { watchers.storedCommitNumber?.last }

    /// The number of the state that the connection sees, if the configuration asks for numbers in the file.
    package var configuredCommitNumber: Int? {
        guard options.storesCommitNumbers else { return nil }
        return try? readCommitNumber()
    }

    /// The number of the state that the connection sees, whether or not the configuration asks for it.
    ///
    /// - returns: nil if the file has none.
    package var commitNumberInFile: Int? { try? readCommitNumber() }

    /// Writes the number of a state that another database will have.
    ///
    /// - parameter number: not lower than the number in the file.
    package func setCommitNumberInFile(_ number: Int) throws {
        try inTransaction(.immediate) {
            try makeCommitNumberTable(atLeast: number)
            return .commit
        }
    }

    /// The number of the state that the connection sees; nil if the file has none.
    private func readCommitNumber() throws -> Int? {
        switch openCommitNumber(writes: false) {
        case .blob(let blob): return blob.readCommitNumber()
        case .failure(let code):
            // There is no such table, row or text.
            guard code != ResultCode.SQLITE_ERROR.rawValue else { return nil }
            throw error(code, operation: "could not read the number of the last commit")
        }
    }

    /// A statement is about to take its first step.
    @inline(never)
    func commitNumberWillSee(_ statement: Statement) throws {
        switch statement.kind {
        case .commit: try writeCommitNumber()
        case .release where openTransaction.savepoints.releaseCommits(statement.savepointName): try writeCommitNumber()
        case .query, .other:
            guard statement.mayChange, statement.kind != .other || statement.mayRunInTransaction else { return }
            try beginOwnTransaction(for: statement)
        default: break
        }
    }

    // MARK: - Transactions of single statements

    /// Begins a transaction around a statement or a blob that is outside a transaction, so that its commit has a
    /// number.
    func beginOwnTransaction(for operation: AnyObject) throws {
        guard let stored = watchers.storedCommitNumber else { return }
        if ConnectionCalls.isAutocommit(pointer) {
            try beginTransaction(.immediate)
        } else if !stored.isInOwnTransaction {
            return
        }
        watchers.storedCommitNumber?.operationWillStart(operation)
    }

    /// A statement or a blob has ended: the last in a transaction of the library's own commits it.
    func endOwnTransaction(of operation: AnyObject) throws {
        guard watchers.storedCommitNumber?.isInOwnTransaction ?? false else { return }
        guard watchers.storedCommitNumber?.operationDidEnd(operation) ?? false, isInsideTransaction else { return }
        do {
            try withoutCancellation { try commit() }
        } catch {
            try? rollback()
            throw error
        }
    }

    // MARK: - Writing the number

    /// Writes the number of the commit that is about to happen, if the transaction has changed something.
    private func writeCommitNumber() throws {
        guard let stored = watchers.storedCommitNumber, isInsideTransaction, let changeMonitor,
            changeMonitor.changes.hasStatements
        else { return }
        switch openCommitNumber(writes: true) {
        case .failure(let code):
            guard code == ResultCode.SQLITE_ERROR.rawValue else { throw commitNumberError(code) }
        case .blob(let blob):
            guard let number = blob.readCommitNumber() else { break }
            guard let next = stored.next(after: number) else { return }
            let code = blob.write(commitNumber: next)
            let closingCode = blob.close()
            guard code == 0, closingCode == 0 else { throw commitNumberError(code == 0 ? closingCode : code) }
            watchers.storedCommitNumber?.didWrite(next)
            return
        }
        // The table is missing, or has something else: SQL has changed it, or the content was replaced.
        let number = try makeCommitNumberTable(atLeast: stored.last &+ 1)
        watchers.storedCommitNumber?.didWrite(number)
    }

    private func openCommitNumber(writes: Bool) -> BlobHandle.Outcome {
        BlobHandle.open(
            pointer, schema: "main", table: Self.commitNumberTable, column: "number", rowID: 1, writes: writes)
    }

    private func commitNumberError(_ code: CInt) -> any Error {
        error(code, operation: "could not write the number of the commit")
    }

    /// Makes the table, if it is missing, and its row.
    ///
    /// ```sql
    /// CREATE TABLE IF NOT EXISTS main.grdb_commit_number (id INTEGER PRIMARY KEY CHECK (id = 1), number TEXT NOT NULL)
    /// SELECT CAST(number AS INTEGER) FROM main.grdb_commit_number WHERE id = 1
    /// INSERT OR REPLACE INTO main.grdb_commit_number (id, number) VALUES (1, '0000000000000000042')
    /// ```
    ///
    /// - returns: the number in the table: not lower than the parameter, nor than the one that it had.
    @discardableResult
    private func makeCommitNumberTable(atLeast minimum: Int) throws -> Int {
        let table = "main." + Self.commitNumberTable
        try execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (id INTEGER PRIMARY KEY CHECK (id = 1), number TEXT NOT NULL)
                """)
        let known = try Int.fetchOne(self, sql: "SELECT CAST(number AS INTEGER) FROM \(table) WHERE id = 1")
        let number = max(minimum, known ?? 0)
        let digits = String(decoding: CommitNumberDigits(number).bytes, as: UTF8.self)
        try execute(sql: "INSERT OR REPLACE INTO \(table) (id, number) VALUES (1, ?)", arguments: [digits])
        return number
    }
}

extension Statement {
    /// Whether a statement of kind `other` may run inside a transaction as outside.
    fileprivate var mayRunInTransaction: Bool {
        switch Substring(sql).utf8.skippingSpaceAndComments.firstWord {
        case "PRAGMA", "VACUUM": false
        default: true
        }
    }
}

/// The text of a number in the file: 19 digits, as many as the highest number has.
struct CommitNumberDigits {
    static let count = 19

    let bytes: [UInt8]

    init(_ number: Int) {
        var rest = number
        var bytes = [UInt8](repeating: UInt8(ascii: "0"), count: Self.count)
        for index in bytes.indices.reversed() {
            bytes[index] += UInt8(rest % 10)
            rest /= 10
        }
        self.bytes = bytes
    }

    /// The number of a text; nil if it isn't one.
    static func number(_ bytes: [UInt8]) -> Int? {
        guard bytes.count == count else { return nil }
        var number = 0
        for byte in bytes {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsAgain) = tens.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
            guard !overflows, !overflowsAgain else { return nil }
            number = sum
        }
        return number
    }
}

extension BlobHandle {
    fileprivate borrowing func readCommitNumber() -> Int? {
        guard count == CommitNumberDigits.count else { return nil }
        var bytes = [UInt8](repeating: 0, count: CommitNumberDigits.count)
        guard bytes.withUnsafeMutableBytes({ read(into: $0, at: 0) }) == 0 else { return nil }
        return CommitNumberDigits.number(bytes)
    }

    fileprivate borrowing func write(commitNumber: Int) -> CInt {
        CommitNumberDigits(commitNumber).bytes.withUnsafeBytes { write($0, at: 0) }
    }
}
