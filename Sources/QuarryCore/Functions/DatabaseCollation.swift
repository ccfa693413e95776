/// A collation: an order of texts written in Swift, for `COLLATE` clauses.
///
/// ```swift
/// let byLength = DatabaseCollation("byLength") { lhs, rhs in lhs.count - rhs.count }
/// config.prepareDatabase { db in db.add(collation: byLength) }
///
/// let names = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name COLLATE byLength")
/// ```
///
/// The order must be transitive (if a comes before b, and b before c, then a comes before c), and must never change
/// while an index is sorted by it: see `reindex(collation:)`. The collation may read the database, but its writes throw
/// `SQLITE_READONLY`: SQLite may be in the middle of an index. Each connection has its own collations: add them in
/// `prepareDatabase`.
///
/// See <https://www.sqlite.org/c3ref/create_collation.html>.
public final class DatabaseCollation: Identifiable, Sendable {
    /// The identity of a collation: its name, ignoring case.
    public struct ID: Hashable, Sendable {
        private let name: String

        init(name: String) { self.name = name.lowercasedASCII }
    }

    /// The name in SQL.
    public let name: String

    /// The identity of this collation.
    public var id: ID { ID(name: name) }

    let compare: @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

    /// A collation that compares the UTF-8 of texts.
    ///
    /// - parameter name: the name in SQL.
    /// - parameter utf8: negative if the first comes before the second, positive if after, 0 if they are equal. The
    ///   bytes must not be kept.
    @_disfavoredOverload
    public init(
        _ name: String, utf8: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) {
        self.name = name
        compare = utf8
    }

    /// A collation that compares strings.
    ///
    /// - parameter name: the name in SQL.
    /// - parameter function: negative if the first comes before the second, positive if after, 0 if they are equal.
    public convenience init(_ name: String, function: @escaping @Sendable (String, String) -> Int) {
        self.init(
            name,
            utf8: { lhs, rhs in function(String(decoding: lhs, as: UTF8.self), String(decoding: rhs, as: UTF8.self)) })
    }
}
