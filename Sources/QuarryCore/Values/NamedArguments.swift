/// The named arguments of a statement, in the order in which they were passed.
///
/// Arguments are few, and mostly in the order of the parameters, so a linear search finds them without hashing.
final class NamedArguments: Sendable {
    let names: [String]
    let values: [DatabaseValue]

    /// A name that both operands of `+` have: binding throws.
    let conflict: String?

    /// The indexes of the names, if there are too many for a linear search.
    private let indexes: [String: Int]?

    /// - parameter names: all different.
    init(names: [String], values: [DatabaseValue], conflict: String?) {
        self.names = names
        self.values = values
        self.conflict = conflict
        indexes = names.count > 16 ? Dictionary(uniqueKeysWithValues: zip(names, 0...)) : nil
    }

    var dictionary: [String: DatabaseValue] { Dictionary(uniqueKeysWithValues: zip(names, values)) }

    /// Whether the names are those of the parameters, in the same order.
    func isInOrder(of parameterNames: [String?]) -> Bool {
        for index in names.indices {
            guard let name = parameterNames[index], Self.isSame(names[index], name) else { return false }
        }
        return true
    }

    /// - parameter place: the index of the last name found; -1 before the first.
    func value(_ name: String, after place: inout Int) -> DatabaseValue? {
        let next = place &+ 1
        if next < names.count, Self.isSame(names[next], name) {
            place = next
            return values[next]
        }
        guard let found = indexes.map({ $0[name] }) ?? names.firstIndex(of: name) else { return nil }
        place = found
        return values[found]
    }

    /// Whether no name occurs twice.
    static func areUnique(_ names: [String]) -> Bool {
        guard names.count <= 16 else { return Set(names).count == names.count }
        // Each name sets a bit; only names with the same bit are compared.
        var seen: UInt64 = 0
        for index in names.indices {
            let bits = StringBits(names[index])
            // Equal long names may have different bits.
            guard bits.isShortASCII else { return Set(names).count == names.count }
            let mark: UInt64 = 1 << bits.bucket
            if seen & mark != 0 {
                for other in 0..<index where isSame(names[index], names[other]) { return false }
            }
            seen |= mark
        }
        return true
    }

    /// Whether two names are equal.
    @inline(__always)
    private static func isSame(_ lhs: String, _ rhs: String) -> Bool {
        let (left, right) = (StringBits(lhs), StringBits(rhs))
        if left == right { return true }
        if left.isShortASCII, right.isShortASCII { return false }
        return lhs == rhs
    }
}
