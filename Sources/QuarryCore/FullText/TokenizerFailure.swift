import Synchronization

/// What a callback of SQLite has thrown, as SQLite passes it on.
struct CallbackFailure {
    let code: ResultCode
    let message: String

    /// The code that SQLite gets.
    fileprivate(set) var returnedCode: CInt

    init(_ error: any Error) {
        var code = ResultCode.SQLITE_ERROR
        if let error = error as? DatabaseError {
            // These mean success: SQLite would go on.
            let isError = ![.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE].contains(error.resultCode)
            if isError { code = error.extendedResultCode }
            message = error.message ?? SQLiteLibrary.errorString(error.extendedResultCode.rawValue)
        } else if error is CancellationError {
            // As if the query had been cancelled in SQLite.
            code = .SQLITE_INTERRUPT
            message = SQLiteLibrary.errorString(code.rawValue)
        } else {
            message = String(describing: error)
        }
        self.code = code
        returnedCode = code.rawValue
    }
}

/// Carries what a tokenizer throws past SQLite, which takes a code from it and no message.
enum TokenizerFailure {
    /// By the number of their thread.
    private static let failures = Lock<[UInt: CallbackFailure]>([:])
    private static let count = Atomic<Int>(0)

    /// Keeps an error of the thread that runs.
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

    /// Makes SQLite take back the statement that stores or removes a text which has failed.
    ///
    /// FTS5 has the tokens before the failure in memory, and would write them with the next commit, without their row.
    /// After `SQLITE_FULL`, SQLite rolls back to the statement's savepoint if there is one, and the whole transaction
    /// if not: <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>. After other
    /// errors a statement of one row has no savepoint, and what FTS5 has begun stays.
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

    /// Forgets what nobody has asked for.
    static func forget() {
        if count.load(ordering: .relaxed) > 0 { _ = take() }
    }

    /// The failure of the thread that runs.
    static var current: CallbackFailure? { failures.withLock { $0[ConnectionLifetime.currentThread] } }

    /// The failure of the thread that runs, once.
    static func take() -> CallbackFailure? {
        failures.withLock { failures in
            defer { count.store(failures.count, ordering: .relaxed) }
            return failures.removeValue(forKey: ConnectionLifetime.currentThread)
        }
    }

    /// The error behind a code.
    static func error(for code: CInt) -> DatabaseError {
        if let failure = take(), failure.returnedCode == code {
            return DatabaseError(resultCode: failure.code, message: failure.message)
        }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: SQLiteLibrary.errorString(code))
    }
}

extension Database {
    /// A failure of a tokenizer that SQLite is about to report.
    struct ReportedFailure {
        let failure: CallbackFailure
        let accessNumber: Int
    }

    /// Called when a tokenizer has failed that FTS5 has called: its message is that of the statement's error.
    func tokenizerDidFail(_ code: CInt) {
        guard let failure = TokenizerFailure.current, failure.returnedCode == code else { return }
        tokenizerFailure = ReportedFailure(failure: failure, accessNumber: access.number)
    }

    /// The failure of a tokenizer that made a statement of the current access fail with a code.
    func takeTokenizerFailure(_ code: CInt) -> CallbackFailure? {
        guard let reported = tokenizerFailure.take(), reported.accessNumber == access.number,
            reported.failure.returnedCode & 0xFF == code & 0xFF
        else { return nil }
        return reported.failure
    }
}
