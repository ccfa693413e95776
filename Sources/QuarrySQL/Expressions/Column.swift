public import QuarryCore

/// A column, by its name.
///
/// ```swift
/// let name: String = row[Column("name")]
/// ```
public struct Column: ColumnExpression, Hashable, Sendable {
    /// The name of the column, without quotes.
    public let name: String

    /// The column of that name.
    public init(_ name: String) { self.name = name }

    /// The column of a key.
    public init(_ codingKey: some CodingKey) { name = codingKey.stringValue }

    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static let rowID = Column("rowid")
}
