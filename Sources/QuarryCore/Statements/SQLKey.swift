#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// SQL as it is spelled.
///
/// Strings are equal in Swift when they are canonically equivalent, such as "é" and "e" with a combining accent. To
/// SQLite they are different texts, and so are the statements that hold them.
struct SQLKey: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    /// Whether both have the same bytes.
    static func == (lhs: SQLKey, rhs: SQLKey) -> Bool {
        // The same storage, which both sides keep: literals, mostly.
        let lhsBits = unsafeBitCast(lhs.sql, to: (UInt64, UInt64).self)
        let rhsBits = unsafeBitCast(rhs.sql, to: (UInt64, UInt64).self)
        if lhsBits == rhsBits { return true }
        let count = lhs.sql.utf8.count
        guard rhs.sql.utf8.count == count else { return false }
        var (lhs, rhs) = (lhs.sql, rhs.sql)
        return lhs.withUTF8 { lhs in
            rhs.withUTF8 { rhs in count == 0 || memcmp(lhs.baseAddress!, rhs.baseAddress!, count) == 0 }
        }
    }

    /// Hashes the bytes.
    func hash(into hasher: inout Hasher) {
        var sql = sql
        sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
