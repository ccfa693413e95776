import CSQLite

/// Owns an open blob, and closes it when the handle is released.
struct BlobHandle: ~Copyable {
    private let pointer: OpaquePointer

    enum Outcome: ~Copyable {
        case blob(BlobHandle)
        case failure(CInt)
    }

    /// Opens a blob. The corresponding C function is `sqlite3_blob_open`.
    static func open(
        _ connection: SQLiteConnection, schema: String, table: String, column: String, rowID: Int64, writes: Bool
    ) -> Outcome {
        var pointer: OpaquePointer?
        let code = sqlite3_blob_open(connection, schema, table, column, rowID, writes ? 1 : 0, &pointer)
        guard code == SQLITE_OK, let pointer else {
            // `pointer` is null then, except if the row has no such value: https://www.sqlite.org/c3ref/blob_open.html
            sqlite3_blob_close(pointer)
            return .failure(code)
        }
        return .blob(BlobHandle(pointer: pointer))
    }

    private init(pointer: OpaquePointer) { self.pointer = pointer }

    /// The corresponding C function is `sqlite3_blob_bytes`.
    var count: Int { Int(sqlite3_blob_bytes(pointer)) }

    /// Fills the buffer. The corresponding C function is `sqlite3_blob_read`.
    borrowing func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> CInt {
        sqlite3_blob_read(pointer, buffer.baseAddress, CInt(clamping: buffer.count), CInt(clamping: offset))
    }

    /// The corresponding C function is `sqlite3_blob_write`.
    borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> CInt {
        sqlite3_blob_write(pointer, bytes.baseAddress, CInt(clamping: bytes.count), CInt(clamping: offset))
    }

    /// Moves to another row. The corresponding C function is `sqlite3_blob_reopen`.
    borrowing func reopen(rowID: Int64) -> CInt { sqlite3_blob_reopen(pointer, rowID) }

    /// Closes the blob. If the blob was written to outside a transaction, this commits the change. The corresponding C
    /// function is `sqlite3_blob_close`.
    consuming func close() -> CInt {
        let pointer = pointer
        discard self
        return sqlite3_blob_close(pointer)
    }

    deinit { sqlite3_blob_close(pointer) }
}
