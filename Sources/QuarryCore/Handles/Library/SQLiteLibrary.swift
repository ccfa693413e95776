import CSQLite

/// Facts about SQLite that need no connection.
@usableFromInline
package enum SQLiteLibrary {
    /// The version as a number: 3040001 for 3.40.1. The corresponding C function is `sqlite3_libversion_number`.
    package static var versionNumber: CInt { sqlite3_libversion_number() }

    /// English for a result code. The corresponding C function is `sqlite3_errstr`.
    package static func errorString(_ code: CInt) -> String {
        sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
    }

    /// A real as `CAST(… AS TEXT)` writes it: `1.5`, `1.0e+20`, `Inf`. The corresponding C function is
    /// `sqlite3_vsnprintf`.
    @usableFromInline
    @inline(never)
    package static func text(of number: Double) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            withVaList([number]) { arguments in
                _ = sqlite3_vsnprintf(CInt(buffer.count), buffer.baseAddress, formatOfReals, arguments)
            }
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    /// SQLite's format of reals: newer versions write 17 digits, older ones 15. No C function tells, so this runs SQL
    /// once.
    private static let formatOfReals: String = {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_open(":memory:", &connection) == SQLITE_OK,
            sqlite3_prepare_v2(connection, "SELECT length(1.0 / 3)", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return "%!.15g" }
        return sqlite3_column_int(statement, 0) > 17 ? "%!.17g" : "%!.15g"
    }()

    /// Whether the library was built with an option. The corresponding C function is `sqlite3_compileoption_used`.
    package static func isBuilt(with option: String) -> Bool {
        sqlite3_compileoption_used(option) != 0
    }

    /// Frees memory that SQLite has allocated for its caller. The corresponding C function is `sqlite3_free`.
    static func free(_ pointer: UnsafeMutableRawPointer?) { sqlite3_free(pointer) }
}

/// The memory that SQLite uses in this process.
package struct ProcessMemory {
    package let bytes: Int
    package let highestBytes: Int
    package let allocationCount: Int
    package let pageCacheOverflowBytes: Int

    /// The memory at this moment. The corresponding C function is `sqlite3_status64`.
    package static var current: ProcessMemory {
        let memory = status(SQLITE_STATUS_MEMORY_USED)
        return ProcessMemory(
            bytes: memory.current, highestBytes: memory.highest,
            allocationCount: status(SQLITE_STATUS_MALLOC_COUNT).current,
            pageCacheOverflowBytes: status(SQLITE_STATUS_PAGECACHE_OVERFLOW).current)
    }

    private static func status(_ operation: CInt) -> (current: Int, highest: Int) {
        var (current, highest) = (Int64(0), Int64(0))
        sqlite3_status64(operation, &current, &highest, 0)
        return (Int(current), Int(highest))
    }
}
