// What isn't run by a statement: blobs, backups, extensions. The same rules hold for them.

extension Database {
    /// Called before an operation: throws where it must not run.
    func operationWillStart(writes: Bool) throws {
        try checkAccess()
        if writes, isReadOnly {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")
        }
        try checkCancellation()
        if transaction.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)) {
            throw abortedTransactionError()
        }
    }

    func checkCancellation() throws {
        if uncancellableDepth == 0, isAccessCancelled { throw CancellationError() }
    }

    /// The error of an operation that failed, with what it was about.
    func error(_ code: CInt, operation: String) -> any Error {
        let error = error(code, sql: nil)
        guard let error = error as? DatabaseError else { return error }
        return DatabaseError(
            resultCode: error.extendedResultCode,
            message: "\(operation): \(error.message ?? SQLiteLibrary.errorString(code))")
    }
}
