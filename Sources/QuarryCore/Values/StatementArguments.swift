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
    package internal(set) var values: [DatabaseValue]

    /// The named arguments; nil if there are none, because most statements have none and arguments are copied often.
    var named: NamedArguments?

    package internal(set) var namedValues: [String: DatabaseValue] {
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
    ///
    /// - parameter parameterNames: called only if the number of names is `parameterCount`.
    func values(
        inOrderOf parameterNames: @autoclosure () -> [String?], parameterCount: Int
    ) -> [DatabaseValue]? {
        guard values.isEmpty, let named, named.conflict == nil, named.names.count == parameterCount else { return nil }
        return named.isInOrder(of: parameterNames()) ? named.values : nil
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
