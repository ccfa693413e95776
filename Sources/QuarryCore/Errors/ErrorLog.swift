/// The receiver of SQLite's error log, which belongs to the process.
package enum ErrorLog {
    static let function = Lock<(@Sendable (ResultCode, String) -> Void)?>(nil)

    private static let installation: Void = ErrorLogCalls.install { _, code, message in
        if let message { ErrorLog.log(code, String(cString: message)) }
    }

    /// Installs the log once, before the first connection is opened.
    static func install() { _ = installation }

    package static func log(_ code: CInt, _ message: String) {
        function.withLock { $0 }?(ResultCode(rawValue: code), message)
    }
}
