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

/// Owns a connection, and closes it when the handle is released.
///
/// The connection is opened without SQLite's own mutex: one access at a time owns it (see `ConnectionLifetime`).
struct ConnectionHandle: ~Copyable {
    let pointer: SQLiteConnection

    /// The modes of opening a file: <https://www.sqlite.org/c3ref/c_open_autoproxy.html>.
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
            // SQLite would open the file that the part before the NUL names.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: path))")
        }
        guard vfs?.utf8.contains(0) != true else {
            throw DatabaseError.misuse("the name of a VFS has a NUL character: \(String(reflecting: vfs ?? ""))")
        }
        if let kind = FileKind(databasePath: path), kind != .file {
            // SQLite would wait forever for another process to write to a pipe.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: SQLiteLibrary.errorString(SQLITE_CANTOPEN)
            ).with(circumstances: ": it is \(kind.rawValue) - while opening \(path)")
        }
        var pointer: OpaquePointer?
        // `withCString`: a string that is passed to C is copied, in two blocks.
        let code = path.withCString { sqlite3_open_v2($0, &pointer, mode.flags, vfs) }
        guard code == SQLITE_OK, let pointer else {
            let reason = pointer.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            let systemReason = code == SQLITE_CANTOPEN ? Self.systemReason(pointer, path, vfs) : ""
            let extendedCode = pointer.map { sqlite3_extended_errcode($0) } ?? code
            // A connection that failed to open must be closed, too.
            sqlite3_close_v2(pointer)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: extendedCode), message: reason ?? SQLiteLibrary.errorString(code)
            ).with(circumstances: "\(systemReason) - while opening \(path)")
        }
        self.pointer = pointer
    }

    /// The system's reason why a file couldn't be opened: `: No such file or directory`. Empty for other VFSs, which
    /// may not use the system's files.
    ///
    /// The corresponding C function is `sqlite3_system_errno`.
    private static func systemReason(_ pointer: OpaquePointer?, _ path: String, _ vfs: String?) -> String {
        guard let pointer, vfs == nil, !path.contains("vfs=") else { return "" }
        let number = sqlite3_system_errno(pointer)
        return number == 0 ? "" : ": " + String(cString: strerror(number))
    }

    deinit {
        // Statements hold the lifetime that holds this handle, so no statement is left, and no blob or backup either.
        sqlite3_close_v2(pointer)
    }

    /// Closes the connection. Returns `SQLITE_BUSY` if statements, blobs or backups are left; then the connection stays
    /// usable. The corresponding C function is `sqlite3_close`.
    borrowing func close() -> CInt { sqlite3_close(pointer) }

    /// Gives up the handle of a connection that has been closed.
    consuming func forget() { discard self }
}
