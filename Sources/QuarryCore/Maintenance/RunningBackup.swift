/// A backup that is made in steps: <https://www.sqlite.org/backup.html>.
///
/// ```swift
/// let backup = try RunningBackup(from: source, to: destination)
/// while try !backup.step(256).isCompleted {}
/// ```
///
/// If it is released before it is complete, the destination stays as it was. Each call needs an access to both
/// connections, and so does the release. Between two calls the source may be in other accesses: a page that they change
/// is copied again, and the copy has the state of the last step.
package final class RunningBackup {
    private let source: Database
    private let destination: Database
    private let open: OpenBackup
    /// The number of the commit that the destination will have, if its file keeps numbers.
    private let commitNumber: Int?

    /// - parameter destination: a connection outside a transaction.
    /// - parameter commitNumber: the number of the commit in the source, if the destination's file keeps numbers.
    /// - throws: `SQLITE_MISUSE` if a backup of the source is under way; other errors of the destination.
    package init(from source: Database, to destination: Database, commitNumber: Int? = nil) throws {
        self.source = source
        self.destination = destination
        self.commitNumber = commitNumber
        try source.checkIsLocal("a backup of a connection")
        try destination.checkIsLocal("a copy over the database")
        try source.operationWillStart(writes: false)
        try destination.operationWillStart(
            writes: true, "backup of \(source.description) to \(destination.description)")
        guard !source.isBackedUp else {
            throw DatabaseError.misuse("a backup of \(source.description) is under way")
        }
        // Its pages are about to be replaced as a whole.
        destination.running.backup?.abandon()
        guard let open = OpenBackup(from: source.lifetime, to: destination.pointer) else {
            throw destination.error(
                destination.lastErrorCode.rawValue,
                operation: "backup of \(source.description) to \(destination.description)")
        }
        self.open = open
        source.running.backup = open
    }

    deinit { open.abandon() }

    /// Copies pages. Waits for locks of other connections according to the busy mode of each connection.
    ///
    /// - parameter pages: their number; 0 to take the locks alone; negative for all.
    /// - returns: whether the destination has been replaced, and how many pages are left.
    /// - throws: the error that has ended the backup: the destination is as it was; `CancellationError`, and the error
    ///   with which another thread has ended an access, after which the backup can go on.
    package func step(_ pages: CInt) throws -> DatabaseBackupProgress {
        try source.checkAccess()
        try source.checkGoesOn()
        try destination.checkGoesOn()
        var tries = 0
        while true {
            guard let code = (open.handle?.step(pages)).map({ ResultCode(rawValue: $0) }) else { throw wasAbandoned() }
            switch code.primaryResultCode {
            case .SQLITE_OK, .SQLITE_DONE:
                let state = DatabaseBackupProgress(
                    remainingPageCount: open.handle?.remainingPageCount ?? 0,
                    totalPageCount: open.handle?.totalPageCount ?? 0,
                    isCompleted: code == .SQLITE_DONE)
                if state.isCompleted { try finish(code) }
                return state
            case .SQLITE_LOCKED where destination.hooks.mayTryAgain(tries):
                // SQLite calls the busy handler for files, but not for a shared cache.
                tries += 1
            default:
                try finish(code)
                throw wasAbandoned()
            }
        }
    }

    /// Ends the backup: the destination stays as it was, and each further step throws.
    package func abandon() { open.abandon() }

    private var operation: String { "backup of \(source.description) to \(destination.description)" }

    private func wasAbandoned() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ABORT,
            message: "\(operation): the source was closed, or its content replaced, before the backup was complete")
    }

    /// - throws: the error of the step, or of the end.
    private func finish(_ code: ResultCode) throws {
        guard let finishCode = open.finish() else { return }
        // The pages under the destination's statements have been replaced.
        destination.forgetStatements()
        destination.schemaMemory.clock.schemaWasReplaced()
        // The code of finishing doesn't report a lock, because the backup could continue after it: the step's code
        // does.
        let failure = code == .SQLITE_DONE ? finishCode : code.rawValue
        guard failure != ResultCode.SQLITE_OK.rawValue else {
            if let commitNumber { destination.watchers.storedCommitNumber?.note(commitNumber) }
            destination.reportLog()
            return destination.contentWasReplaced()
        }
        // The wait for a lock has ended with the access.
        if code.primaryResultCode == .SQLITE_BUSY, let error = source.endError ?? destination.endError { throw error }
        let error = destination.error(failure, operation: operation)
        throw finishCode == failure || !(error is DatabaseError)
            ? error
            : DatabaseError(
                resultCode: code, message: "\(operation): \(SQLiteLibrary.errorString(failure))")
    }
}

extension Database {
    /// Whether a backup reads this database.
    var isBackedUp: Bool { running.isTellingOfBackup || running.backup?.isRunning ?? false }

    /// Whether a backup reads this database. May be read from any thread.
    package var isReadByBackup: Bool { lifetime.isReadByBackup }

    /// Makes SQLite report a log that has grown by a backup, which it does at the end of the next statement. After
    /// `contentWasReplaced` that would count as another commit.
    fileprivate func reportLog() {
        guard let statement = try? controlStatement(.schemaVersion), !statement.handle.isBusy else { return }
        defer { statement.handle.reset() }
        // Below the statement's own life: its end would look for commits.
        while statement.handle.step() == StatementHandle.row {}
    }
}
