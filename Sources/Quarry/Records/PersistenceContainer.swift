public import QuarryCore

/// The columns of a record, which `encode(to:)` fills.
///
/// ```swift
/// struct Player: PersistableRecord {
///     var id: Int64
///     var name: String
///     func encode(to container: inout PersistenceContainer) {
///         container["id"] = id
///         container["name"] = name
///     }
/// }
/// ```
///
/// Names of columns are equal whatever their case. A column that is set twice has the value that was set last.
///
/// While a record is inserted or updated, a value goes straight into the statement that will run. Reading a column back
/// makes the record be encoded once more, into memory.
public struct PersistenceContainer {
    let target: EncodingTarget

    init(_ target: EncodingTarget) { self.target = target }

    /// An empty container.
    public init() { target = EncodingTarget() }

    /// The value of a column; nil is NULL, and what a column has that wasn't set.
    public subscript(_ column: String) -> (any DatabaseValueConvertible)? {
        get { target.value(forColumn: column) }
        set { target.set(newValue, forColumn: column) }
    }

    /// The value of a column; nil is NULL, and what a column has that wasn't set.
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get { target.value(forColumn: column.name) }
        set { target.set(newValue, forColumn: column.name) }
    }

    /// The names of the columns, in the order they were set.
    public var columns: [String] { target.names }
}

extension PersistenceContainer: RandomAccessCollection {
    /// The place of a column.
    public typealias Index = Int

    /// 0
    public var startIndex: Int { 0 }

    /// The number of columns.
    public var endIndex: Int { target.names.count }

    /// A column and its value.
    public subscript(position: Int) -> (String, DatabaseValue) { (target.names[position], target.values[position]) }
}

extension PersistenceContainer: CustomStringConvertible {
    /// `[id:1 name:"Arthur"]`
    public var description: String { "[" + map { "\($0):\($1)" }.joined(separator: " ") + "]" }
}

@available(*, unavailable)
extension PersistenceContainer: Sendable {}
