import Synchronization

/// What a callback of SQLite has thrown, as SQLite passes it on.
struct CallbackFailure {
    let code: ResultCode
    let message: String

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
        if let failure = take(), failure.code.rawValue == code {
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
        guard let failure = TokenizerFailure.current, failure.code.rawValue == code else { return }
        tokenizerFailure = ReportedFailure(failure: failure, accessNumber: accessNumber)
    }

    /// The failure of a tokenizer that made a statement of the current access fail with a code.
    func takeTokenizerFailure(_ code: CInt) -> CallbackFailure? {
        guard let reported = tokenizerFailure.take(), reported.accessNumber == accessNumber,
            reported.failure.code.rawValue & 0xFF == code & 0xFF
        else { return nil }
        return reported.failure
    }
}
