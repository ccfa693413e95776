import Synchronization

/// Carries the error of a tokenizer past SQLite, which takes a code from a tokenizer, but no message.
enum TokenizerFailure {
    /// The failures, by the number of their thread.
    private static let failures = Lock<[UInt: CallbackFailure]>([:])
    private static let count = Atomic<Int>(0)

    /// Keeps an error for the current thread.
    ///
    /// - returns: the code for SQLite.
    @inline(never)
    static func note(_ error: any Error) -> CInt {
        let failure = CallbackFailure(error)
        failures.withLock {
            $0[ConnectionLifetime.currentThread] = failure
            count.store($0.count, ordering: .relaxed)
        }
        return failure.code.rawValue
    }

    /// Makes SQLite roll back the statement that stores or removes a text whose tokenization has failed.
    ///
    /// FTS5 has the tokens before the failure in memory, and would write them with the next commit, without their row.
    /// After `SQLITE_FULL`, SQLite rolls back to the statement's savepoint if it has one, or else the whole
    /// transaction: <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>. After other
    /// errors a statement of one row has no savepoint, and FTS5 keeps its partial changes.
    ///
    /// - returns: the code for SQLite.
    @inline(never)
    static func noteHalfDone(_ code: CInt) -> CInt {
        let full = ResultCode.SQLITE_FULL.rawValue
        failures.withLock { failures in
            let thread = ConnectionLifetime.currentThread
            var failure = failures[thread].flatMap { $0.returnedCode == code ? $0 : nil }
            if failure == nil {
                let code = ResultCode(rawValue: code)
                failure = CallbackFailure(
                    DatabaseError(resultCode: code, message: SQLiteLibrary.errorString(code.rawValue)))
            }
            failure?.returnedCode = full
            failures[thread] = failure
            count.store(failures.count, ordering: .relaxed)
        }
        return full
    }

    /// Forgets a failure that no statement has reported.
    static func forget() {
        if count.load(ordering: .relaxed) > 0 { _ = take() }
    }

    /// The failure of the current thread.
    static var current: CallbackFailure? { failures.withLock { $0[ConnectionLifetime.currentThread] } }

    /// Removes and returns the failure of the current thread.
    static func take() -> CallbackFailure? {
        failures.withLock { failures in
            defer { count.store(failures.count, ordering: .relaxed) }
            return failures.removeValue(forKey: ConnectionLifetime.currentThread)
        }
    }

    /// The error for a code.
    static func error(for code: CInt) -> DatabaseError {
        if let failure = take(), failure.returnedCode == code {
            return DatabaseError(resultCode: failure.code, message: failure.message)
        }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: SQLiteLibrary.errorString(code))
    }
}
