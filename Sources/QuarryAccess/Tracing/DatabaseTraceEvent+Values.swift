import QuarryCore

extension DatabaseTraceEvent.Severity {
    /// The severity of an error.
    ///
    /// - parameter isRetried: whether the library tries again, so that the program never learns of the error.
    init(of error: DatabaseError, origin: DatabaseTraceEvent.Origin, isRetried: Bool = false) {
        switch error.resultCode {
        // dqlite's codes for a node that isn't the leader, or no longer: nothing is damaged.
        case .SQLITE_IOERR where [10_250, 10_506].contains(error.extendedResultCode.rawValue): self = .error
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_FULL: self = .critical
        case .SQLITE_INTERRUPT where !(error.message?.hasPrefix("statement timeout") ?? false): self = .debug
        case .SQLITE_NOTICE, .SQLITE_SCHEMA: self = .notice
        // A name that is taken, for example: the server answers 409.
        case .SQLITE_CONSTRAINT where origin == .program: self = .notice
        case .SQLITE_BUSY where isRetried: self = .notice
        case .SQLITE_WARNING: self = .warning
        default: self = origin == .library ? .warning : .error
        }
    }
}

extension DatabaseTraceEvent.Holder {
    func redacted(_ redaction: SQLRedaction) -> Self {
        var holder = self
        holder.sql = sql.map { redaction($0) }
        return holder
    }
}

extension DatabaseTraceEvent.Access.Outcome {
    func redacted(_ redaction: SQLRedaction) -> Self {
        if case .error(let error as DatabaseError) = self { .error(error.redacted(redaction)) } else { self }
    }
}

extension DatabaseError {
    /// The error as a tracer may see it.
    func redacted(_ redaction: SQLRedaction) -> DatabaseError {
        let error = with(sql: sql.map { redaction($0) })
        return publicStatementArguments ? error : error.with(StatementArguments())
    }
}

extension Duration {
    /// Whole nanoseconds, not negative.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
    }
}
