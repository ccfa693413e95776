import QuarryCore

#if canImport(Darwin)
@preconcurrency import Darwin
#elseif canImport(Musl)
@preconcurrency import Musl
#else
@preconcurrency import Glibc
#endif

/// A file that a dump writes to.
///
/// ```swift
/// let file = try DumpFile(path: "/tmp/players.csv")
/// try dbQueue.dumpTables(["player"], format: .csv(), to: file)
/// try file.close()
/// ```
///
/// A failure to write, for example because the disk is full, is an error of the dump, or of `close`.
public final class DumpFile: ThrowingTextOutputStream, Sendable {
    private struct State {
        /// nil when the file is closed.
        var file: UnsafeMutablePointer<FILE>?
        var error: DatabaseError?
    }

    private let state: Lock<State>
    private let path: String
    private let closes: Bool

    /// Creates a file, or truncates an existing one, which no database has.
    package init(creating path: String) throws {
        guard let file = fopen(path, "w") else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "unable to create \(path): \(Self.reason)")
        }
        self.path = path
        closes = true
        state = Lock(State(file: file))
    }

    /// The standard output of the process, in order with the output of `print`.
    init() {
        path = "standard output"
        closes = false
        state = Lock(State(file: stdout))
    }

    deinit { if closes, let file = state.withLock({ $0.file }) { fclose(file) } }

    /// Appends text. After an error, it writes nothing more.
    public func write(_ string: String) {
        state.withLock { state in
            guard let file = state.file else {
                if state.error == nil {
                    state.error = DatabaseError.misuse("\(path) is closed")
                }
                return
            }
            guard state.error == nil else { return }
            var string = string
            let isWritten = string.withUTF8Bytes {
                $0.isEmpty || fwrite($0.baseAddress!, 1, $0.count, file) == $0.count
            }
            if !isWritten { state.error = error() }
        }
    }

    /// The first error.
    public var writeError: (any Error)? { state.withLock { $0.error } }

    /// Writes the remaining text, and closes the file. Closing again has no effect.
    ///
    /// - throws: the first error: `SQLITE_IOERR_WRITE`.
    public func close() throws {
        try state.withLock { state in
            if let file = state.file.take(), fclose(file) != 0, state.error == nil { state.error = error() }
            if let error = state.error { throw error }
        }
    }

    /// Writes the text that the process still buffers.
    func flush() {
        state.withLock { state in
            if let file = state.file, state.error == nil, fflush(file) != 0 { state.error = error() }
        }
    }

    private func error() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_IOERR_WRITE, message: "unable to write to \(path): \(Self.reason)")
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
