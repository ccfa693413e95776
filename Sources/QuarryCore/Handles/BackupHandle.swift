import CSQLite

/// Owns a running backup. If the handle is released before the backup is complete, SQLite rolls the destination back.
struct BackupHandle: ~Copyable {
    private let pointer: OpaquePointer

    /// Begins to copy a database over another connection's main database. The corresponding C function is
    /// `sqlite3_backup_init`.
    ///
    /// - parameter schema: the name of the database in the source.
    /// - returns: nil after an error, which the destination then reports.
    init?(from source: SQLiteConnection, schema: String = "main", to destination: SQLiteConnection) {
        guard let pointer = sqlite3_backup_init(destination, "main", source, schema) else { return nil }
        self.pointer = pointer
    }

    /// Copies pages; a negative number copies all of them. The corresponding C function is `sqlite3_backup_step`.
    borrowing func step(_ pages: CInt) -> CInt { sqlite3_backup_step(pointer, pages) }

    /// The corresponding C function is `sqlite3_backup_remaining`.
    var remainingPageCount: Int { Int(sqlite3_backup_remaining(pointer)) }

    /// The corresponding C function is `sqlite3_backup_pagecount`.
    var totalPageCount: Int { Int(sqlite3_backup_pagecount(pointer)) }

    /// Ends the backup, and leaves its error in the destination. The corresponding C function is
    /// `sqlite3_backup_finish`.
    consuming func finish() -> CInt {
        let pointer = pointer
        discard self
        return sqlite3_backup_finish(pointer)
    }

    deinit { sqlite3_backup_finish(pointer) }
}
