// Operations that aren't statements: blobs, backups, extensions. They follow the same rules as statements.

extension Database {
    /// Called before an operation: throws if it must not run.
    ///
    /// - parameter operation: the operation, for the error of an operation that writes.
    /// - parameter method: the caller.
    package func operationWillStart(
        writes: Bool, _ operation: @autoclosure () -> String = "", method: StaticString = #function
    ) throws {
        try checkAccess()
        try checkIsLocal("\(method)")
        if writes, isReadOnly {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY, message: "\(operation()): attempt to write a readonly database")
        }
        try checkGoesOn()
        try checkTransactionIsOpen()
    }

    /// Throws for a name with a NUL. C strings end there, so that it would be another name.
    package func checkName(_ name: String, of kind: String) throws(DatabaseError) {
        guard !name.utf8.contains(0) else {
            throw DatabaseError.misuse("the name of a \(kind) has a NUL character: \(String(reflecting: name))")
        }
    }

    package func checkCancellation() throws {
        if access.isCancelled { throw CancellationError() }
    }

    /// Throws if the access is cancelled, or if another thread has ended it.
    func checkGoesOn() throws {
        try checkCancellation()
        if let endError { throw endError }
    }

    /// The error of an operation that failed, with the operation's description.
    package func error(_ code: CInt, operation: String) -> any Error {
        let error = error(code, sql: nil)
        guard let error = error as? DatabaseError else { return error }
        return DatabaseError(
            resultCode: error.extendedResultCode,
            message: "\(operation): \(error.message ?? SQLiteLibrary.errorString(code))")
    }
}
