/// Something that names a column.
///
/// ```swift
/// enum Columns: String, ColumnExpression {
///     case id, name
/// }
/// let name: String = row[Columns.name]
/// ```
public protocol ColumnExpression {
    /// The name of the column, without quotes.
    var name: String { get }
}

extension ColumnExpression where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    public var name: String { rawValue }
}
