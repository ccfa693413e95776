import CSQLite

/// Owns a backup that is under way, and ends it: what isn't complete is rolled back in the destination.
struct BackupHandle: ~Copyable {
    private let pointer: OpaquePointer

    /// Begins a copy of a database over another connection's main one. The corresponding C function is
    /// `sqlite3_backup_init`.
    ///
    /// - parameter schema: the name of the database in the source.
    /// - returns: nil after an error, which is the destination's.
    init?(from source: SQLiteConnection, schema: String = "main", to destination: SQLiteConnection) {
        guard let pointer = sqlite3_backup_init(destination, "main", source, schema) else { return nil }
        self.pointer = pointer
    }

    /// Copies pages; all for a negative number. The corresponding C function is `sqlite3_backup_step`.
    borrowing func step(_ pages: CInt) -> CInt { sqlite3_backup_step(pointer, pages) }

    /// The corresponding C function is `sqlite3_backup_remaining`.
    var remainingPageCount: Int { Int(sqlite3_backup_remaining(pointer)) }

    /// The corresponding C function is `sqlite3_backup_pagecount`.
    var totalPageCount: Int { Int(sqlite3_backup_pagecount(pointer)) }

    /// Ends it, and leaves its error in the destination. The corresponding C function is `sqlite3_backup_finish`.
    consuming func finish() -> CInt {
        let pointer = pointer
        discard self
        return sqlite3_backup_finish(pointer)
    }

    deinit { sqlite3_backup_finish(pointer) }
}
