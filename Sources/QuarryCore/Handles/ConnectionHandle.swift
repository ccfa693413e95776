import CSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A pointer to a connection: <https://www.sqlite.org/c3ref/sqlite3.html>.
public typealias SQLiteConnection = OpaquePointer

/// Owns a connection, and closes it when it ends.
///
/// The connection is opened without SQLite's own mutex: one access at a time owns it (see `ConnectionLifetime`).
struct ConnectionHandle: ~Copyable {
    let pointer: SQLiteConnection

    /// How a file is opened: <https://www.sqlite.org/c3ref/c_open_autoproxy.html>.
    enum Mode {
        case readOnly
        case readWriteCreate

        var flags: CInt {
            let flags =
                switch self {
                case .readOnly: SQLITE_OPEN_READONLY
                case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                }
            return flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        }
    }

    /// Opens a connection. The corresponding C function is `sqlite3_open_v2`.
    init(path: String, mode: Mode, vfs: String?) throws(DatabaseError) {
        guard !path.utf8.contains(0) else {
            // SQLite would open the file that is named before it.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: path))")
        }
        guard vfs?.utf8.contains(0) != true else {
            throw DatabaseError.misuse("the name of a VFS has a NUL character: \(String(reflecting: vfs ?? ""))")
        }
        if let kind = FileKind(databasePath: path), kind != .file {
            // SQLite would wait for who writes to a pipe, without end.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: SQLiteLibrary.errorString(SQLITE_CANTOPEN)
            ).with(circumstances: ": it is \(kind.rawValue) - while opening \(path)")
        }
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(path, &pointer, mode.flags, vfs)
        guard code == SQLITE_OK, let pointer else {
            let reason = pointer.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            let systemReason = code == SQLITE_CANTOPEN ? Self.systemReason(pointer, path, vfs) : ""
            let extendedCode = pointer.map { sqlite3_extended_errcode($0) } ?? code
            // A connection that failed to open has to be closed all the same.
            sqlite3_close_v2(pointer)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: extendedCode), message: reason ?? SQLiteLibrary.errorString(code)
            ).with(circumstances: "\(systemReason) - while opening \(path)")
        }
        self.pointer = pointer
    }

    /// What the system says about a file that couldn't be opened: `: No such file or directory`. A VFS of another kind
    /// needs no system.
    ///
    /// The corresponding C function is `sqlite3_system_errno`.
    private static func systemReason(_ pointer: OpaquePointer?, _ path: String, _ vfs: String?) -> String {
        guard let pointer, vfs == nil, !path.contains("vfs=") else { return "" }
        let number = sqlite3_system_errno(pointer)
        return number == 0 ? "" : ": " + String(cString: strerror(number))
    }

    deinit {
        // Statements hold the lifetime that holds this handle: none is left, and neither are blobs and backups.
        sqlite3_close_v2(pointer)
    }

    /// Closes, or answers `SQLITE_BUSY` when statements, blobs or backups are left: the connection stays usable then.
    /// The corresponding C function is `sqlite3_close`.
    borrowing func close() -> CInt { sqlite3_close(pointer) }

    /// Ends a handle whose connection is closed.
    consuming func forget() { discard self }
}
