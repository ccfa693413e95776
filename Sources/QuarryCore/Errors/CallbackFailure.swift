/// The error of a callback, as SQLite passes it on.
struct CallbackFailure {
    let code: ResultCode
    let message: String

    /// The code that is returned to SQLite.
    var returnedCode: CInt

    init(_ error: any Error) {
        var code = ResultCode.SQLITE_ERROR
        if let error = error as? DatabaseError {
            // These codes mean success: SQLite would go on.
            let isError = ![.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE].contains(error.resultCode)
            if isError { code = error.extendedResultCode }
            message = error.message ?? SQLiteLibrary.errorString(error.extendedResultCode.rawValue)
        } else if error is CancellationError {
            // The code of a query that is cancelled in SQLite.
            code = .SQLITE_INTERRUPT
            message = SQLiteLibrary.errorString(code.rawValue)
        } else {
            message = String(describing: error)
        }
        self.code = code
        returnedCode = code.rawValue
    }
}

/// A failure of a tokenizer that SQLite is about to report.
struct ReportedFailure {
    let failure: CallbackFailure
    let accessNumber: Int
}
