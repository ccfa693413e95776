/// A question about the schema has no answer now: reading it was interrupted, or has failed. Nothing may be remembered
/// of it.
package struct LookupFailure: Error {
    /// The error code of SQLite.
    package let code: CInt
}

// The connection asks questions about the schema in the middle of the program's statements. They take part neither in
// the recording of accesses nor in the rules for untrusted SQL.

extension Database {
    /// The rows of a question about the schema.
    package func lookUp<T>(_ sql: String, _ row: (SQLiteStatement) -> T) throws(LookupFailure) -> [T] {
        try ask {
            untraced {
                unnoted {
                    prepareAlone(sql) { statement in
                        var rows: [T] = []
                        while true {
                            switch statement.step() {
                            case StatementHandle.row: rows.append(row(statement.pointer))
                            case StatementHandle.done: return .answer(rows)
                            case let code: return .failure(code)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Prepares statements, and returns what SQLite reports of those that are valid.
    ///
    /// - returns: the report, and the number of valid statements.
    func report(ofStatements texts: [String]) throws(LookupFailure) -> (report: AccessRecorder.Report, count: Int) {
        let recorder = startRecordingAccesses()
        return try ask {
            let (outcome, report) = recorder.recording {
                var count = 0
                for text in texts {
                    switch prepareAlone(text, { _ in .answer(()) }) {
                    case .answer: count += 1
                    case .failure(ResultCode.SQLITE_ERROR.rawValue): continue
                    case .failure(let code): return Attempt<Int>.failure(code)
                    }
                }
                return .answer(count)
            }
            switch outcome {
            case .answer(let count): return .answer((report, count))
            case .failure(let code): return .failure(code)
            }
        }
    }

    /// Prepares SQL that can't be prepared, so that its error is the last one of the connection again.
    func restoreError(ofSQL sql: String) {
        unnoted { _ = prepareAlone(sql) { _ in Attempt<Void>.answer(()) } }
    }

    private enum Attempt<T> {
        case answer(T)
        /// An error code of SQLite.
        case failure(CInt)
    }

    /// Asks again if the question is interrupted: interruptions are meant for the program's statements. A running
    /// statement keeps the interruption alive, and then there is no answer before it ends.
    private func ask<T>(_ attempt: () -> Attempt<T>) throws(LookupFailure) -> T {
        var attemptCount = 0
        while true {
            attemptCount += 1
            switch attempt() {
            case .answer(let answer): return answer
            case .failure(let code):
                let isInterrupted = code & 0xFF == ResultCode.SQLITE_INTERRUPT.rawValue
                guard isInterrupted, attemptCount < 10 else { throw LookupFailure(code: code) }
            }
        }
    }

    /// Prepares the first statement of some SQL for the length of a call.
    private func prepareAlone<T>(_ sql: String, _ body: (borrowing StatementHandle) -> Attempt<T>) -> Attempt<T> {
        withSQL(sql) { text in
            var start = 0
            switch StatementHandle.prepare(pointer, sql: text, from: &start, persistent: false) {
            case .statement(let handle): return body(handle)
            case .empty: return .failure(ResultCode.SQLITE_ERROR.rawValue)
            case .failure(let code): return .failure(code)
            }
        }
    }

    func unnoted<T>(_ body: () throws -> T) rethrows -> T {
        guard let accessRecorder = watchers.accessRecorder else { return try unrefused(body) }
        return try accessRecorder.pausing { try unrefused(body) }
    }

    private func unrefused<T>(_ body: () throws -> T) rethrows -> T {
        guard let statementPolicy = watchers.statementPolicy else { return try body() }
        return try statementPolicy.withoutRefusals(body)
    }
}
