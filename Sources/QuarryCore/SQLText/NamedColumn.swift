/// A type that names a column of a row.
///
/// ```swift
/// enum Columns: String, ColumnExpression {
///     case id, name
/// }
/// let name: String = row[Columns.name]
/// ```
public protocol NamedColumn {
    /// The name of the column, without quotes.
    var name: String { get }
}

extension NamedColumn where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    public var name: String { rawValue }
}
