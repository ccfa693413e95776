public import QuarryCore

/// The columns of a record, set by `encode(to:)`.
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
/// The case of column names is ignored. A column that is set twice has the value set last.
///
/// While a record is inserted or updated, a value goes straight into the statement that will run. Reading a column back
/// encodes the record again, into memory.
public struct PersistenceContainer {
    let target: EncodingTarget

    init(_ target: EncodingTarget) { self.target = target }

    /// An empty container.
    public init() { target = EncodingTarget() }

    /// The value of a column; `nil` if the column is NULL or was not set.
    ///
    /// ```swift
    /// struct Place: EncodableRecord {
    ///     var latitude: Double
    ///
    ///     func encode(to container: inout PersistenceContainer) throws { container["latitude"] = latitude }
    /// }
    /// ```
    @_disfavoredOverload
    public subscript(_ column: String) -> (any DatabaseValueConvertible)? {
        get { target.value(forColumn: column) }
        set { target.set(newValue, forColumn: column) }
    }

    /// The value of a column; `nil` if the column is NULL or was not set.
    @_disfavoredOverload
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get { target.value(forColumn: column.name) }
        set { target.set(newValue, forColumn: column.name) }
    }

    // The same for values of a statically known type, which need no existential.

    /// The value of a column; `nil` if the column is NULL, was not set, or can't be converted.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        get { value(forColumn: column) }
        set {
            guard let newValue else { return setNull(forColumn: column) }
            // The type is known where the record's code is compiled.
            if let integer = newValue as? Int {
                set(Int64(integer), forColumn: column)
            } else if let integer = newValue as? Int64 {
                set(integer, forColumn: column)
            } else if let text = newValue as? String {
                set(text, forColumn: column)
            } else if let number = newValue as? Double {
                set(number, forColumn: column)
            } else {
                set(convertible: newValue, forColumn: column)
            }
        }
    }

    /// The value of a column; `nil` if the column is NULL, was not set, or can't be converted.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }

    @usableFromInline
    func value<Value: DatabaseValueConvertible>(forColumn column: String) -> Value? {
        target.value(forColumn: column).flatMap { Value.fromDatabaseValue($0.databaseValue) }
    }

    @usableFromInline
    func setNull(forColumn column: String) { target.setNull(forColumn: column) }

    @usableFromInline
    func set(_ value: Int64, forColumn column: String) { target.set(value, forColumn: column) }

    @usableFromInline
    func set(_ value: String, forColumn column: String) { target.set(value, forColumn: column) }

    @usableFromInline
    func set(_ value: Double, forColumn column: String) { target.set(value, forColumn: column) }

    @usableFromInline
    func set<Value: DatabaseValueConvertible>(convertible value: Value, forColumn column: String) {
        target.set(opening: value, forColumn: column)
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
