import CSQLite

/// Owns a session, which notes the changes of rows in one schema of a connection, and ends it when the handle is
/// released: <https://www.sqlite.org/session/session.html>.
///
/// A session takes the preupdate slot of its connection. It exists inside `HookSlots.withSessions` only.
package struct SessionHandle: ~Copyable {
    private let pointer: OpaquePointer

    /// Decides for a session which tables it notes. SQLite asks before the first change of a table, and again for each
    /// change of a table that was refused.
    package final class TableFilter {
        fileprivate let accepts: (String) -> Bool

        package init(_ accepts: @escaping (String) -> Bool) { self.accepts = accepts }
    }

    /// The filter, to which SQLite has a pointer.
    private let filter: TableFilter

    package enum Outcome: ~Copyable {
        case session(SessionHandle)
        case failure(CInt)
    }

    /// Begins a session. The corresponding C functions are `sqlite3session_create`, `sqlite3session_table_filter` and
    /// `sqlite3session_attach`.
    ///
    /// - parameter schema: the name of an existing schema.
    package static func begin(_ connection: SQLiteConnection, schema: String, _ filter: TableFilter) -> Outcome {
        var pointer: OpaquePointer?
        let code = sqlite3session_create(connection, schema, &pointer)
        guard code == SQLITE_OK, let pointer else { return .failure(code) }
        let session = SessionHandle(pointer: pointer, filter: filter)
        sqlite3session_table_filter(
            pointer,
            { context, table in
                guard let context, let table else { return 0 }
                let filter = Unmanaged<TableFilter>.fromOpaque(context).takeUnretainedValue()
                return filter.accepts(String(cString: table)) ? 1 : 0
            }, Unmanaged.passUnretained(filter).toOpaque())
        let attachCode = sqlite3session_attach(pointer, nil)
        guard attachCode == SQLITE_OK else { return .failure(attachCode) }
        return .session(session)
    }

    private init(pointer: OpaquePointer, filter: TableFilter) {
        self.pointer = pointer
        self.filter = filter
    }

    /// The changes so far. The corresponding C function is `sqlite3session_changeset`.
    package borrowing func changeset() -> (code: CInt, bytes: [UInt8]) {
        ChangesetCalls.bytes { sqlite3session_changeset(pointer, &$0, &$1) }
    }

    /// Adds the changes that turn a table of another schema into the table of this session's schema. The corresponding
    /// C function is `sqlite3session_diff`.
    package borrowing func addDifference(from schema: String, table: String) -> (code: CInt, message: String?) {
        var message: UnsafeMutablePointer<CChar>?
        defer { sqlite3_free(message) }
        let code = sqlite3session_diff(pointer, schema, table, &message)
        return (code, message.map { String(cString: $0) })
    }

    deinit { sqlite3session_delete(pointer) }
}

extension SessionHandle {
    /// Whether the library has the session extension.
    package static var isAvailable: Bool {
        SQLiteLibrary.isBuilt(with: "ENABLE_SESSION") && SQLiteLibrary.isBuilt(with: "ENABLE_PREUPDATE_HOOK")
    }

    /// Whether sessions note the changes of tables with generated columns. In older versions such a change makes the
    /// session fail. SQLite's documentation doesn't say since when, so this tries it once, in memory.
    package static let notesGeneratedColumns: Bool = {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard isAvailable, sqlite3_open(":memory:", &connection) == SQLITE_OK, let connection,
            sqlite3_exec(connection, "CREATE TABLE t (a INTEGER PRIMARY KEY, b AS (a))", nil, nil, nil) == SQLITE_OK,
            case .session(let session) = begin(connection, schema: "main", TableFilter { _ in true }),
            sqlite3_exec(connection, "INSERT INTO t VALUES (1)", nil, nil, nil) == SQLITE_OK
        else { return false }
        return session.changeset().code == SQLITE_OK
    }()

    /// Whether sessions recognize a key in a column of type REAL without a fraction: a row that comes and goes leaves
    /// no change. SQLite 3.40 doesn't. This tries it once, in memory.
    package static let notesRealKeys: Bool = {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard isAvailable, sqlite3_open(":memory:", &connection) == SQLITE_OK, let connection,
            sqlite3_exec(connection, "CREATE TABLE t (a REAL PRIMARY KEY)", nil, nil, nil) == SQLITE_OK,
            case .session(let session) = begin(connection, schema: "main", TableFilter { _ in true }),
            sqlite3_exec(connection, "INSERT INTO t VALUES (1); DELETE FROM t", nil, nil, nil) == SQLITE_OK
        else { return false }
        let (code, bytes) = session.changeset()
        return code == SQLITE_OK && bytes.isEmpty
    }()
}
