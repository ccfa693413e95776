/// A pair of a `String` and a 64-bit integer, as its memory.
///
/// Assumption: the elements of a tuple are one after the other. `isLayoutOfPairs` checks it once; if it doesn't hold,
/// `Statement.execute(arguments:)` makes `StatementArguments` of the pairs.
@usableFromInline
struct NamedInteger {
    let name: StringBits
    let value: Int64

    static let isLayoutOfPairs: Bool = {
        let pair = (key: "name", value: 7 as Int64)
        guard MemoryLayout.stride(ofValue: pair) == MemoryLayout<NamedInteger>.stride else { return false }
        return withUnsafeBytes(of: pair) { bytes in
            let read = bytes.load(as: NamedInteger.self)
            return read.name == StringBits(pair.key) && read.value == pair.value
        }
    }()
}
