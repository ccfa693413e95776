/// The arguments of a statement: positional, named, or both.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Arthur", 1000])
/// try db.execute(
///     sql: "INSERT INTO player (name, score) VALUES (:name, :score)",
///     arguments: ["name": "Arthur", "score": 1000])
/// ```
///
/// A named parameter (`:name`, `@name`, `$name`) takes the argument with that name, or else the next positional one;
/// other parameters take the next positional one. See <https://www.sqlite.org/lang_expr.html#varparam>.
public struct StatementArguments: Sendable {
    package private(set) var values: [DatabaseValue]

    /// The named arguments; nil if there are none, because most statements have none and arguments are copied often.
    private var named: NamedArguments?

    package private(set) var namedValues: [String: DatabaseValue] {
        get { named?.dictionary ?? [:] }
        set { setNamed(newValue, conflict: conflict) }
    }

    /// A name that both operands of `+` have: binding throws.
    package private(set) var conflict: String? {
        get { named?.conflict }
        set { setNamed(namedValues, conflict: newValue) }
    }

    private mutating func setNamed(_ values: [String: DatabaseValue], conflict: String?) {
        named =
            values.isEmpty && conflict == nil
            ? nil : NamedArguments(names: Array(values.keys), values: Array(values.values), conflict: conflict)
    }

    /// The value of a named argument; nil if there is none.
    ///
    /// - parameter place: the index of the last name found: most statements name their parameters in the same order.
    @inline(__always)
    func namedValue(_ name: String, after place: inout Int) -> DatabaseValue? {
        named?.value(name, after: &place)
    }

    /// The values, if all arguments are named and in the order of the parameters.
    func values(inOrderOf statement: Statement) -> [DatabaseValue]? {
        guard values.isEmpty, let named, named.conflict == nil, named.names.count == statement.parameterCount else {
            return nil
        }
        return named.isInOrder(of: statement.parameterNames) ? named.values : nil
    }

    /// Whether all arguments are positional.
    @inline(__always)
    package var isPositional: Bool { named == nil }

    /// No arguments.
    public init() {
        values = []
    }

    package init(values: [DatabaseValue]) {
        self.values = values
    }

    /// Whether there are no arguments.
    public var isEmpty: Bool { values.isEmpty && named == nil }

    /// Positional arguments.
    ///
    /// ```swift
    /// let arguments = StatementArguments([1, 2, 3])
    /// try db.execute(sql: "DELETE FROM player WHERE id IN (?, ?, ?)", arguments: arguments)
    /// ```
    public init<S: Sequence>(_ sequence: S) where S.Element: DatabaseValueConvertible {
        self.init(values: sequence.map(\.databaseValue))
    }

    /// Positional arguments; nil is NULL.
    public init<S: Sequence>(_ sequence: S) where S.Element == (any DatabaseValueConvertible)? {
        self.init(values: sequence.map { $0?.databaseValue ?? .null })
    }

    /// Named arguments, without the prefix of their parameters; nil is NULL.
    ///
    /// ```swift
    /// let values: [String: (any DatabaseValueConvertible)?] = ["name": "Arthur", "score": nil]
    /// try db.execute(
    ///     sql: "INSERT INTO player (name, score) VALUES (:name, :score)", arguments: StatementArguments(values))
    /// ```
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        values = []
        namedValues = dictionary.mapValues { $0?.databaseValue ?? .null }
    }

    /// Named arguments, without the prefix of their parameters. If a name occurs twice, the last value counts.
    public init<S: Sequence>(_ sequence: S) where S.Element == (String, (any DatabaseValueConvertible)?) {
        values = []
        namedValues = Dictionary(
            sequence.lazy.map { ($0.0, $0.1?.databaseValue ?? .null) }, uniquingKeysWith: { _, last in last })
    }

    // MARK: - Combining

    /// Appends positional arguments, and adds named ones, which replace existing ones with the same name.
    ///
    /// ```swift
    /// var arguments: StatementArguments = ["score": 0]
    /// arguments.append(contentsOf: ["score": 1000]) // ["score": 0], the replaced value
    /// ```
    ///
    /// - returns: the named values that were replaced.
    @discardableResult
    public mutating func append(contentsOf arguments: StatementArguments) -> [String: DatabaseValue] {
        var replaced: [String: DatabaseValue] = [:]
        values.append(contentsOf: arguments.values)
        for (name, value) in arguments.namedValues {
            if let old = namedValues.updateValue(value, forKey: name) { replaced[name] = old }
        }
        conflict = conflict ?? arguments.conflict
        return replaced
    }

    /// The arguments of both operands. If both have the same name, the statement throws: use `&+` to replace the value.
    ///
    /// ```swift
    /// let arguments: StatementArguments = ["Arthur"] + [1000] // ["Arthur", 1000]
    /// ```
    public static func + (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var sum = lhs
        sum += rhs
        return sum
    }

    /// Adds the arguments of the right operand. If both have the same name, the statement throws: use
    /// `append(contentsOf:)` to replace the value.
    ///
    /// ```swift
    /// var arguments: StatementArguments = ["Arthur"]
    /// arguments += [1000] // ["Arthur", 1000]
    /// ```
    public static func += (lhs: inout StatementArguments, rhs: StatementArguments) {
        let replaced = lhs.append(contentsOf: rhs)
        lhs.conflict = lhs.conflict ?? replaced.keys.min()
    }

    /// The arguments of both operands. If both have the same name, the right value counts.
    ///
    /// ```swift
    /// let arguments: StatementArguments = ["score": 0] &+ ["score": 1000] // ["score": 1000]
    /// ```
    public static func &+ (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var sum = lhs
        sum.append(contentsOf: rhs)
        return sum
    }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Positional arguments: `["Arthur", 1000, nil]`.
    @inlinable
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        // Inlinable, so that the elements stay on the stack.
        self = elements.withUnsafeBufferPointer { StatementArguments(elements: $0) }
    }

    @usableFromInline
    init(elements: UnsafeBufferPointer<(any DatabaseValueConvertible)?>) {
        let layout = ArgumentLayout.current
        values = []
        guard let first = elements.baseAddress else { return }
        if elements.count == 1 {
            // A single argument is mostly a key.
            values = [layout.value(of: first)]
            return
        }
        values.reserveCapacity(elements.count)
        for index in elements.indices { values.append(layout.value(of: first + index)) }
    }
}

/// The memory layout of an optional existential. Copying one calls the Swift runtime, which costs more than binding its
/// value.
///
/// The layout has three words for the content or a pointer to it, then the type, then the conformance; nil has no type.
/// Swift 5 and 6 use this layout but don't guarantee it, so it is checked at run time.
private struct ArgumentLayout {
    static let current = ArgumentLayout()

    private static let typeOffset = 3 * MemoryLayout<Int>.size

    private let isKnown: Bool
    private let int = unsafeBitCast(Int.self as Any.Type, to: Int.self)
    private let int64 = unsafeBitCast(Int64.self as Any.Type, to: Int.self)
    private let double = unsafeBitCast(Double.self as Any.Type, to: Int.self)
    private let string = unsafeBitCast(String.self as Any.Type, to: Int.self)

    private init() {
        typealias Element = any DatabaseValueConvertible
        let none: Element? = nil
        let some: Element? = 1
        isKnown =
            MemoryLayout<Element?>.size == MemoryLayout<Element>.size
            && withUnsafeBytes(of: none) { $0.load(fromByteOffset: Self.typeOffset, as: Int.self) } == 0
            && withUnsafeBytes(of: some) { $0.load(fromByteOffset: Self.typeOffset, as: Int.self) } == int
    }

    /// The value of an element, without copying the element.
    @inline(__always)
    func value(of element: UnsafePointer<(any DatabaseValueConvertible)?>) -> DatabaseValue {
        guard isKnown else { return element.pointee?.databaseValue ?? .null }
        let bytes = UnsafeRawPointer(element)
        // Most arguments are of these types, which the existential holds inline.
        switch bytes.load(fromByteOffset: Self.typeOffset, as: Int.self) {
        case 0: return .null
        case int: return DatabaseValue(content: .int64(Int64(bytes.load(as: Int.self))))
        case string: return DatabaseValue(content: .string(bytes.assumingMemoryBound(to: String.self).pointee))
        case int64: return DatabaseValue(content: .int64(bytes.load(as: Int64.self)))
        case double: return bytes.load(as: Double.self).databaseValue
        default: return bytes.assumingMemoryBound(to: (any DatabaseValueConvertible).self).pointee.databaseValue
        }
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Named arguments: `["name": "Arthur", "score": 1000]`. If a name occurs twice, the last value counts.
    @inlinable
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        // Inlinable, so that the elements stay on the stack.
        self = elements.withUnsafeBufferPointer { StatementArguments(namedElements: $0) }
    }

    @usableFromInline
    init(namedElements elements: UnsafeBufferPointer<(String, (any DatabaseValueConvertible)?)>) {
        self.init()
        guard let first = elements.baseAddress else { return }
        let layout = ArgumentLayout.current
        var names: [String] = []
        var values: [DatabaseValue] = []
        names.reserveCapacity(elements.count)
        values.reserveCapacity(elements.count)
        for index in elements.indices {
            // The elements of a tuple follow each other in memory. Copying the tuple would copy the existential.
            let name = UnsafeRawPointer(first + index).assumingMemoryBound(to: String.self)
            let value = UnsafeRawPointer(name + 1).assumingMemoryBound(to: (any DatabaseValueConvertible)?.self)
            names.append(name.pointee)
            values.append(layout.value(of: value))
        }
        if NamedArguments.areUnique(names) {
            named = NamedArguments(names: names, values: values, conflict: nil)
        } else {
            namedValues = Dictionary(zip(names, values), uniquingKeysWith: { _, last in last })
        }
    }
}

extension StatementArguments: Hashable {
    /// Whether both have equal values, in the same order or with the same names.
    public static func == (lhs: StatementArguments, rhs: StatementArguments) -> Bool {
        lhs.values == rhs.values && lhs.namedValues == rhs.namedValues
    }

    /// Hashes the values and names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(namedValues)
    }
}

extension StatementArguments: CustomStringConvertible {
    /// `["Arthur", 1000]`, `["name": "Arthur"]`, or both.
    public var description: String {
        let positional = values.map(\.description)
        let named = namedValues.sorted { $0.key < $1.key }.map { "\(String(reflecting: $0.key)): \($0.value)" }
        return "[" + (positional + named).joined(separator: ", ") + "]"
    }
}
