internal import CSQLite
internal import QuarryClusterWire

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file that represents the replicated state, in a temporary folder.
final class DatabaseFile: Sendable {
    let path: String
    private let folder: String
    /// Stays open, so that no other connection is the last one, whose end would lock the file and remove the log.
    private let connection: Monitor<OpaquePointer?>

    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/quarry-cluster-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/database.sqlite"
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
        let isOpen = sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK
        connection = Monitor(opened)
        guard isOpen else { throw StatementFailure(opened) }
        // The first transaction makes the log, so that no later one has to.
        try execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = OFF;
            PRAGMA foreign_keys = ON;
            PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE first(a); DROP TABLE first
            """)
    }

    deinit { remove() }

    func execute(_ sql: String) throws {
        try connection.withLock { connection in
            guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw StatementFailure(connection) }
        }
    }

    func query(_ sql: String) throws -> [[WireValue]] {
        try connection.withLock { connection in
            var prepared: OpaquePointer?
            guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
                throw StatementFailure(connection)
            }
            let statement = EmulatedStatement(owning: prepared, sql: sql)
            var rows: [[WireValue]] = []
            while try statement.step() { rows.append((0..<Int32(statement.columnCount)).map(statement.value)) }
            return rows
        }
    }

    /// Closes the connection, and removes the folder.
    func remove() {
        connection.withLock { connection in
            guard connection != nil else { return }
            sqlite3_close_v2(connection)
            connection = nil
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            rmdir(folder)
        }
    }
}
