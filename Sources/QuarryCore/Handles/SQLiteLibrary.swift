import CSQLite

/// What SQLite tells of itself, without a connection.
package enum SQLiteLibrary {
    /// The version as a number: 3040001 for 3.40.1. The corresponding C function is `sqlite3_libversion_number`.
    package static var versionNumber: CInt { sqlite3_libversion_number() }

    /// English for a result code. The corresponding C function is `sqlite3_errstr`.
    package static func errorString(_ code: CInt) -> String {
        sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
    }

    /// Whether the library was built with an option. The corresponding C function is `sqlite3_compileoption_used`.
    package static func isBuilt(with option: String) -> Bool {
        sqlite3_compileoption_used(option) != 0
    }

    /// Frees what SQLite has allocated for its caller. The corresponding C function is `sqlite3_free`.
    static func free(_ pointer: UnsafeMutableRawPointer?) { sqlite3_free(pointer) }
}
