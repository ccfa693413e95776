import CSQLite
public import QuarryCore

/// A session of SQLite's session extension without the library, as a reference.
public final class RawSession {
    private let pointer: OpaquePointer

    /// Notes the changes of all tables of `main` from now on.
    public init(_ db: Database) throws {
        var pointer: OpaquePointer?
        let code = sqlite3session_create(db.sqliteConnection, "main", &pointer)
        guard code == SQLITE_OK, let pointer else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        self.pointer = pointer
        sqlite3session_attach(pointer, nil)
    }

    /// The changes so far.
    public func changeset() throws -> [UInt8] { try bytes { sqlite3session_changeset(pointer, &$0, &$1) } }

    /// The changes so far, without old values.
    public func patchset() throws -> [UInt8] { try bytes { sqlite3session_patchset(pointer, &$0, &$1) } }

    private func bytes(_ body: (inout CInt, inout UnsafeMutableRawPointer?) -> CInt) throws -> [UInt8] {
        var count: CInt = 0
        var bytes: UnsafeMutableRawPointer?
        defer { sqlite3_free(bytes) }
        let code = body(&count, &bytes)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    deinit { sqlite3session_delete(pointer) }
}
