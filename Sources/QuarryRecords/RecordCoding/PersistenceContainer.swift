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

/// The destination of a record that is encoded: memory, or the parameters of a statement.
///
/// A record is encoded into a statement if it encodes the same columns as before, in the same order: then a name is
/// compared with the expected name, two words. Anything else ends the pass, and the record is encoded again, into
/// memory.
final class EncodingTarget {
    // MARK: Into memory

    /// The columns, in the order they were set.
    @exclusivity(unchecked)
    private(set) var names: [String] = []

    @exclusivity(unchecked)
    private(set) var values: [DatabaseValue] = []

    /// Columns whose value is only known when the record has been encoded, with their places.
    @exclusivity(unchecked)
    private var unfinished: [(place: Int, value: () throws -> DatabaseValue)] = []

    // MARK: Into a statement

    // Unmanaged: whoever encodes a record keeps them, and to count a reference costs as much as to bind a number.

    @exclusivity(unchecked)
    private var binder: Unmanaged<ParameterBinder>?

    @exclusivity(unchecked)
    private var statement: SQLiteStatement?

    /// The columns that are expected.
    @exclusivity(unchecked)
    private var layout: Unmanaged<ParameterLayout>?

    /// The column of the layout that is expected next.
    @exclusivity(unchecked)
    private(set) var next = 0

    /// How many parameters of the statement come before those of the record.
    @exclusivity(unchecked)
    private var firstParameter: CInt = 0

    /// Whether the record encodes other columns than the layout has.
    @exclusivity(unchecked)
    private(set) var hasStrayed = false

    /// Whether a column of the key is NULL.
    @exclusivity(unchecked)
    private(set) var bindsNullKey = false

    // MARK: For Encodable records

    /// The session of the record type that the target is kept for.
    @exclusivity(unchecked)
    var encodingState: AnyObject?

    init() {}

    /// Encodes a record into memory.
    convenience init(recording record: some EncodableRecord) throws {
        self.init()
        try encode(record)
    }

    /// Encodes a record into memory.
    func encode(_ record: some EncodableRecord) throws {
        var container = PersistenceContainer(self)
        try record.encode(to: &container)
        for (place, value) in unfinished { values[place] = try value() }
        unfinished = []
    }

    /// Whether a record is being encoded into a statement.
    var isBinding: Bool { binder != nil }

    /// Encodes a record into the parameters of a statement.
    ///
    /// - parameter firstParameter: how many parameters come before those of the record; 0 if the layout has columns
    ///   without a parameter.
    /// - returns: whether all parameters are bound, and those of the key not to NULL.
    func bind(
        _ record: some EncodableRecord, _ layout: ParameterLayout, _ binder: ParameterBinder, firstParameter: CInt = 0
    ) throws -> Bool {
        self.layout = Unmanaged.passUnretained(layout)
        self.firstParameter = firstParameter
        self.binder = Unmanaged.passUnretained(binder)
        statement = binder.boundStatement
        next = 0
        hasStrayed = false
        bindsNullKey = false
        defer {
            self.layout = nil
            self.binder = nil
            statement = nil
        }
        do {
            var container = PersistenceContainer(self)
            try record.encode(to: &container)
        } catch {
            // A column that could not be read back may be the cause.
            if hasStrayed { return false }
            throw error
        }
        if next != layout.count { hasStrayed = true }
        return !hasStrayed && !bindsNullKey
    }

    // MARK: - Columns

    /// The parameter of a column: 0 for a column that the statement doesn't use, negative if the pass has ended.
    @inline(__always)
    private func parameter(of column: String) -> CInt {
        let place = next
        guard let layout else { return stray() }
        return layout._withUnsafeGuaranteedRef { layout in
            guard place < layout.count else { return stray() }
            guard layout.isColumn(column, at: place) || isColumn(column, layout, at: place) else { return stray() }
            next = place &+ 1
            return layout.parameter(at: place).index &+ firstParameter
        }
    }

    @inline(never)
    private func isColumn(_ column: String, _ layout: ParameterLayout, at place: Int) -> Bool {
        layout.name(at: place).isSpelled(as: column)
    }

    /// The same for a coding key that is known; negative if it isn't: the pass goes on, with the name of the column.
    @inline(__always)
    func parameter<Key: CodingKey>(ofKnown key: Key) -> CInt {
        guard let layout else { return -1 }
        let known = layout._withUnsafeGuaranteedRef { $0.columns.knownKey(ofType: Key.self, key) }
        guard Int(known.place) == next else { return -1 }
        next &+= 1
        return known.number &+ firstParameter
    }

    /// Notes that the column at `place` has the name of a coding key.
    func remember(_ key: some CodingKey, at place: Int) {
        guard let layout = layout?.takeUnretainedValue(), !hasStrayed, next == place &+ 1 else { return }
        layout.columns.remember(key, place, number: Int(layout.parameter(at: place).index))
    }

    /// Ends the pass.
    @inline(never)
    @discardableResult
    func stray() -> CInt {
        hasStrayed = true
        // No column is expected any more.
        next = .max
        return -1
    }

    /// Notes that the last column is NULL.
    private func noteNull() {
        guard let layout else { return }
        if layout._withUnsafeGuaranteedRef({ $0.parameter(at: next - 1).isKey }) { bindsNullKey = true }
    }

    @inline(never)
    private func record(_ value: DatabaseValue, _ column: String) {
        if let place = names.firstIndex(where: { $0.isSameName(as: column) }) {
            values[place] = value
            unfinished.removeAll { $0.place == place }
        } else {
            names.append(column)
            values.append(value)
        }
    }

    /// Sets a column when the record has been encoded; ends a pass into a statement.
    func set(forColumn column: String, whenEncoded value: @escaping () throws -> DatabaseValue) {
        if isBinding {
            stray()
            return
        }
        record(.null, column)
        if let place = names.firstIndex(where: { $0.isSameName(as: column) }) {
            unfinished.append((place, value))
        }
    }

    /// The value of a column that was set; ends a pass into a statement, which can't be read.
    func value(forColumn column: String) -> (any DatabaseValueConvertible)? {
        if isBinding {
            stray()
            return nil
        }
        guard let place = names.firstIndex(where: { $0.isSameName(as: column) }) else { return nil }
        return values[place].isNull ? nil : values[place]
    }

    // MARK: - Values

    func set(_ value: (any DatabaseValueConvertible)?, forColumn column: String) {
        if let value { set(opening: value, forColumn: column) } else { setNull(forColumn: column) }
    }

    /// Sets a column to a value whose type is known here: the most frequent types have functions of their own.
    func set<Value: DatabaseValueConvertible>(opening value: Value, forColumn column: String) {
        if Value.self == String.self {
            set(reinterpret(value) as String, forColumn: column)
        } else if Value.self == Int.self {
            set(Int64(reinterpret(value) as Int), forColumn: column)
        } else if Value.self == Int64.self {
            set(reinterpret(value) as Int64, forColumn: column)
        } else if Value.self == Double.self {
            set(reinterpret(value) as Double, forColumn: column)
        } else if Value.self == Float.self {
            set(Double(reinterpret(value) as Float), forColumn: column)
        } else {
            set(convertible: value, forColumn: column)
        }
    }

    func set<Value: DatabaseValueConvertible>(convertible value: Value, forColumn column: String) {
        guard isBinding else { return record(.refusingNaN(value), column) }
        let parameter = parameter(of: column)
        if parameter > 0 { bind(convertible: value, at: parameter) }
    }

    func bind<Value: DatabaseValueConvertible>(convertible value: Value, at parameter: CInt) {
        if hasBytesOfNaN(value) { return bind(.refusingNaN(value), at: parameter) }
        binder?._withUnsafeGuaranteedRef { $0.bind(value, at: parameter) }
    }

    /// Sets a column to a number. SQLite stores a NaN as NULL: it is refused.
    func set(_ value: Double, forColumn column: String) {
        if value.isNaN { return set(convertible: DatabaseValue.notANumber, forColumn: column) }
        set(convertible: value, forColumn: column)
    }

    private func bind(_ value: DatabaseValue, at parameter: CInt) {
        binder?._withUnsafeGuaranteedRef { $0.bind(value, at: parameter) }
    }

    func bind(_ value: Double, at parameter: CInt) {
        if value.isNaN { return bind(.notANumber, at: parameter) }
        bind(convertible: value, at: parameter)
    }

    func setNull(forColumn column: String) {
        guard isBinding else { return record(.null, column) }
        let parameter = parameter(of: column)
        if parameter > 0 { bindNull(at: parameter) }
    }

    /// Binds the parameter of the column that was found last.
    func bindNull(at parameter: CInt) {
        guard let statement else { return }
        _ = StatementBindings.bindNull(to: statement, at: parameter)
        noteNull()
    }

    func set(_ value: Int64, forColumn column: String) {
        guard isBinding else { return record(value.databaseValue, column) }
        let parameter = parameter(of: column)
        if parameter > 0 { bind(value, at: parameter) }
    }

    @inline(__always)
    func bind(_ value: Int64, at parameter: CInt) {
        guard let statement else { return }
        _ = StatementBindings.bind(value, to: statement, at: parameter)
    }

    func set(_ value: String, forColumn column: String) {
        guard isBinding else { return record(value.databaseValue, column) }
        let parameter = parameter(of: column)
        if parameter > 0 { bind(value, at: parameter) }
    }

    func bind(_ value: String, at parameter: CInt) {
        binder?._withUnsafeGuaranteedRef { $0.bind(value, at: parameter) }
    }

    func set(bytes: UnsafeRawBufferPointer, forColumn column: String) {
        guard let binder else { return record([UInt8](bytes).databaseValue, column) }
        let parameter = parameter(of: column)
        if parameter > 0 { binder._withUnsafeGuaranteedRef { $0.bind(bytes: bytes, at: parameter) } }
    }

    /// Sets a column to text that `write` writes; `write` returns the number of bytes.
    func setText(
        forColumn column: String, capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        guard let binder else {
            let text = String(unsafeUninitializedCapacity: capacity) { write($0) }
            return record(text.databaseValue, column)
        }
        let parameter = parameter(of: column)
        if parameter > 0 { binder._withUnsafeGuaranteedRef { $0.bindText(capacity: capacity, at: parameter, write) } }
    }

    /// Whether the value of the next column, if it has that name, isn't used: it need not be converted.
    func skip(_ column: String) -> Bool {
        guard let layout else { return false }
        return layout._withUnsafeGuaranteedRef { layout in
            guard next < layout.count, layout.parameter(at: next).index == 0,
                layout.isColumn(column, at: next) || isColumn(column, layout, at: next)
            else { return false }
            next += 1
            return true
        }
    }
}

extension DatabaseValue {
    fileprivate static var notANumber: DatabaseValue {
        .unrepresentable("the number NaN", reason: "SQLite would store NULL")
    }

    /// A number of a record. A NaN is refused.
    static func number(_ number: Double) -> DatabaseValue { number.isNaN ? notANumber : number.databaseValue }

    /// A value of a record. A NaN is refused, also as the raw value of a type that is stored as its raw value.
    static func refusingNaN(_ value: some DatabaseValueConvertible) -> DatabaseValue {
        let stored = value.databaseValue
        return stored.isNull && isNaN(value) ? notANumber : stored
    }

    private static func isNaN(_ value: Any) -> Bool {
        if let number = value as? any FloatingPoint { return number.isNaN }
        return (value as? any RawRepresentable).map { isNaN($0.rawValue) } ?? false
    }
}

/// Whether a value has the size and the bytes of a NaN, which few other values have: only then its type is examined.
@inline(__always)
private func hasBytesOfNaN<Value>(_ value: Value) -> Bool {
    switch MemoryLayout<Value>.size {
    case MemoryLayout<Double>.size: withUnsafeBytes(of: value) { $0.loadUnaligned(as: Double.self).isNaN }
    case MemoryLayout<Float>.size: withUnsafeBytes(of: value) { $0.loadUnaligned(as: Float.self).isNaN }
    default: false
    }
}
