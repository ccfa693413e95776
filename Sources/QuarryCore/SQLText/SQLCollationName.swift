/// The name of a collation: <https://www.sqlite.org/datatype3.html#collating_sequences>.
public struct SQLCollationName: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// A collation's name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A collation's name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Compares bytes.
    public static let binary = SQLCollationName("BINARY")
    /// Ignores the case of the letters A to Z.
    public static let nocase = SQLCollationName("NOCASE")
    /// Ignores trailing spaces.
    public static let rtrim = SQLCollationName("RTRIM")
}

extension SQLCollationName {
    /// The name as written in SQL, quoted if needed.
    package var sql: String {
        let isWord = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "_"): true
            default: false
            }
        }
        return isWord && !(rawValue.utf8.first.map { 48...57 ~= $0 } ?? true)
            ? rawValue : rawValue.quotedDatabaseIdentifier
    }
}
