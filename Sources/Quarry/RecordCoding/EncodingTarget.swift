import QuarryCore

/// Where a record is encoded: into memory, or straight into the parameters of a statement.
///
/// Straight goes what encodes the columns it encoded before, in the same order: then a name is found by a comparison of
/// two words with the one that is expected. Anything else ends the pass, and the record is encoded again, into memory.
final class EncodingTarget {
    // MARK: Into memory

    /// The columns, in the order they were set.
    @exclusivity(unchecked)
    private(set) var names: [String] = []

    @exclusivity(unchecked)
    private(set) var values: [DatabaseValue] = []

    /// Columns whose value is only known when the record has been encoded, by their place.
    @exclusivity(unchecked)
    private var unfinished: [(place: Int, value: () throws -> DatabaseValue)] = []

    // MARK: Into a statement

    /// Whoever encodes a record keeps it, and the layout: a reference that is counted costs as much as a number to
    /// bind.
    @exclusivity(unchecked)
    private var binder: Unmanaged<ParameterBinder>?

    @exclusivity(unchecked)
    private var statement: SQLiteStatement?

    /// The columns that are expected.
    @exclusivity(unchecked)
    private var entries = UnsafeMutableBufferPointer<ParameterLayout.Entry>(start: nil, count: 0)

    /// The column of the layout that is expected next.
    @exclusivity(unchecked)
    private(set) var next = 0

    /// How many parameters of the statement come before those of the record.
    @exclusivity(unchecked)
    private var firstParameter: CInt = 0

    /// Whether the record encodes something else than the layout has.
    @exclusivity(unchecked)
    private(set) var hasStrayed = false

    /// Whether a column of the key is NULL.
    @exclusivity(unchecked)
    private(set) var bindsNullKey = false

    // MARK: For Encodable records

    /// What is known of encoding the record type that the target is kept for.
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
    /// - parameter firstParameter: how many parameters come before those of the record; 0 where the layout has columns
    ///   without a parameter.
    /// - returns: whether all parameters are bound, and those of the key not to NULL.
    func bind(
        _ record: some EncodableRecord, _ layout: ParameterLayout, _ binder: ParameterBinder, firstParameter: CInt = 0
    ) throws -> Bool {
        entries = layout.entries
        self.firstParameter = firstParameter
        self.binder = Unmanaged.passUnretained(binder)
        statement = binder.boundStatement
        next = 0
        hasStrayed = false
        bindsNullKey = false
        defer {
            entries = UnsafeMutableBufferPointer(start: nil, count: 0)
            self.binder = nil
            statement = nil
        }
        do {
            var container = PersistenceContainer(self)
            try record.encode(to: &container)
        } catch {
            // What it threw may come of what it could not read back.
            if hasStrayed { return false }
            throw error
        }
        if next != entries.count { hasStrayed = true }
        return !hasStrayed && !bindsNullKey
    }

    // MARK: - Columns

    /// The parameter of a column: 0 for a column that the statement doesn't use, negative where the pass is over.
    @inline(__always)
    private func parameter(of column: String) -> CInt {
        let place = next
        guard place < entries.count else { return stray() }
        let bits = unsafeBitCast(column, to: (UInt64, UInt64).self)
        if entries[place].bits.0 == bits.0, entries[place].bits.1 == bits.1 {
            next = place &+ 1
            return entries[place].parameter &+ firstParameter
        }
        return compare(column, entries[place])
    }

    /// The same for a coding key that is a byte and has been found at this place before; negative if it hasn't: the
    /// pass goes on, with the name of the column.
    @inline(__always)
    func parameter(of key: ParameterLayout.ByteKey) -> CInt {
        let place = next
        guard place < entries.count, entries[place].key.byte == key.byte, entries[place].key.type == key.type else {
            return -1
        }
        next = place &+ 1
        return entries[place].parameter &+ firstParameter
    }

    /// The column at `place` has been found by its name, which is that of a coding key.
    func remember(_ key: ParameterLayout.ByteKey, at place: Int) {
        if !hasStrayed, next == place &+ 1 { entries[place].key = key }
    }

    @inline(never)
    private func compare(_ column: String, _ entry: ParameterLayout.Entry) -> CInt {
        guard !hasStrayed, entry.name.isSpelled(as: column) else { return stray() }
        next += 1
        return entry.parameter &+ firstParameter
    }

    /// Ends the pass.
    @inline(never)
    @discardableResult
    func stray() -> CInt {
        hasStrayed = true
        // Nothing is expected any more.
        next = .max
        return -1
    }

    /// The column of `parameter(of:)` is NULL.
    private func noteNull() {
        if entries[next - 1].isKey { bindsNullKey = true }
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

    /// Sets a column to a value whose type is known here: those that have a road of their own take it.
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
        guard isBinding else { return record(value.databaseValue, column) }
        let parameter = parameter(of: column)
        if parameter > 0 { bind(convertible: value, at: parameter) }
    }

    func bind<Value: DatabaseValueConvertible>(convertible value: Value, at parameter: CInt) {
        binder?._withUnsafeGuaranteedRef { $0.bind(value, at: parameter) }
    }

    /// Sets a column to a number. SQLite stores a NaN as NULL: it is refused.
    func set(_ value: Double, forColumn column: String) {
        if value.isNaN { return set(convertible: DatabaseValue.notANumber, forColumn: column) }
        set(convertible: value, forColumn: column)
    }

    func bind(_ value: Double, at parameter: CInt) {
        if value.isNaN { return bind(convertible: DatabaseValue.notANumber, at: parameter) }
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

    /// Sets a column to text that `write` writes, and answers how many bytes it is.
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

    /// Whether the value of the next column, of that name, isn't used: it need not be converted.
    func skip(_ column: String) -> Bool {
        guard next < entries.count, entries[next].parameter == 0, entries[next].name.isSpelled(as: column) else {
            return false
        }
        next += 1
        return true
    }
}

extension DatabaseValue {
    fileprivate static var notANumber: DatabaseValue {
        .unrepresentable("the number NaN", reason: "SQLite would store NULL")
    }

    /// A number of a record. A NaN is refused.
    static func number(_ number: Double) -> DatabaseValue { number.isNaN ? notANumber : number.databaseValue }
}
