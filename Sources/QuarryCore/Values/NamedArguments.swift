/// The named arguments of a statement, in the order they were given.
///
/// They are few, and mostly in the order of the parameters: so they are found by looking, without hashing.
final class NamedArguments: Sendable {
    let names: [String]
    let values: [DatabaseValue]

    /// A name that `+` found on both sides: binding throws.
    let conflict: String?

    /// Where there are so many that a search would take longer.
    private let indexes: [String: Int]?

    /// - parameter names: all different.
    init(names: [String], values: [DatabaseValue], conflict: String?) {
        self.names = names
        self.values = values
        self.conflict = conflict
        indexes = names.count > 16 ? Dictionary(uniqueKeysWithValues: zip(names, 0...)) : nil
    }

    var dictionary: [String: DatabaseValue] { Dictionary(uniqueKeysWithValues: zip(names, values)) }

    /// Whether the names are those of parameters, in their order.
    func isInOrder(of parameterNames: [String?]) -> Bool {
        for index in names.indices {
            guard let name = parameterNames[index], Self.isSame(names[index], name) else { return false }
        }
        return true
    }

    /// - parameter place: where the last name was found; -1 before the first.
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

    /// Whether all names are different.
    static func areUnique(_ names: [String]) -> Bool {
        guard names.count <= 16 else { return Set(names).count == names.count }
        // A bit for each: two names with the same one are compared.
        var seen: UInt64 = 0
        for index in names.indices {
            let bits = unsafeBitCast(names[index], to: (UInt64, UInt64).self)
            // Long names that are equal may differ in their bits.
            guard isShortASCII(bits) else { return Set(names).count == names.count }
            let mark: UInt64 = 1 << (((bits.0 ^ bits.1 &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 58)
            if seen & mark != 0 {
                for other in 0..<index where isSame(names[index], names[other]) { return false }
            }
            seen |= mark
        }
        return true
    }

    /// Whether two names are equal. Short ones of ASCII are told apart by their bits: they lie in the `String` itself.
    @inline(__always)
    private static func isSame(_ lhs: String, _ rhs: String) -> Bool {
        let left = unsafeBitCast(lhs, to: (UInt64, UInt64).self)
        let right = unsafeBitCast(rhs, to: (UInt64, UInt64).self)
        if left == right { return true }
        if isShortASCII(left), isShortASCII(right) { return false }
        return lhs == rhs
    }

    /// Whether the bits are those of a string of at most 15 ASCII characters, which lie in the `String` itself.
    @inline(__always)
    private static func isShortASCII(_ bits: (UInt64, UInt64)) -> Bool { bits.1 >> 60 == 0xE }
}
