import Synchronization

/// The names of the columns of a result, shared by its rows.
///
/// It never changes, so that rows of one result can be read by several threads.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline
    let names: [String]

    /// The leftmost index of each name in lower case, for names that aren't ASCII, and where there are so many that a
    /// search would take longer; made when a name is looked for.
    private let indexes = AtomicLazyReference<ColumnIndexes>()

    private final class ColumnIndexes: Sendable {
        let byName: [String: Int]

        init(_ names: [String]) {
            byName = Dictionary(zip(names.lazy.map(\.foldingASCIICase), 0...)) { first, _ in first }
        }
    }

    init(names: [String]) { self.names = names }

    /// Of rows that nobody has read yet.
    static let unread = RowLayout(names: [])

    /// The leftmost column of that name, whatever the case of its ASCII letters.
    func index(of name: String) -> Int? {
        if names.count <= 16, name.utf8.allSatisfy({ $0 < 0x80 }) {
            return names.firstIndex { $0.isSameIgnoringASCIICase(name) }
        }
        let indexes = indexes.load() ?? indexes.storeIfNil(ColumnIndexes(names))
        return indexes.byName[name.foldingASCIICase]
    }
}

extension String {
    /// With ASCII letters in lower case, as SQLite compares identifiers.
    package var foldingASCIICase: String {
        guard utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) else { return self }
        return String(decoding: utf8.map(\.foldingASCIICase), as: UTF8.self)
    }

    /// Whether it is the other one but for the case of ASCII letters.
    fileprivate func isSameIgnoringASCIICase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).allSatisfy { $0.foldingASCIICase == $1.foldingASCIICase }
    }
}

extension UInt8 {
    fileprivate var foldingASCIICase: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

/// The columns that a cursor's row has been asked for, in the order it was asked.
///
/// Code that reads rows asks each for the same names in the same order: then the answer is one comparison of two words,
/// without hashing.
@usableFromInline
struct ColumnMemo {
    @usableFromInline
    struct Entry {
        // Keeps the name's storage, so that equal bits mean an equal name.
        @usableFromInline let name: String
        @usableFromInline let bits: (UInt64, UInt64)
        @usableFromInline let index: Int
    }

    @usableFromInline
    var entries: [Entry] = []

    /// Of 32 bits, to leave room beside it.
    @usableFromInline
    var next: Int32 = 0

    @inlinable
    init() {}

    @inlinable
    @inline(__always)
    static func bits(_ name: String) -> (UInt64, UInt64) { unsafeBitCast(name, to: (UInt64, UInt64).self) }

    /// The index that was found for the name that is next, if it is this one.
    @inlinable
    @inline(__always)
    mutating func predicted(_ name: String) -> Int? {
        let place = Int(next)
        guard place < entries.count else { return nil }
        let bits = Self.bits(name)
        let entry = entries[place].bits
        guard entry.0 == bits.0, entry.1 == bits.1 else { return nil }
        let index = entries[place].index
        next = place &+ 1 == entries.count ? 0 : next &+ 1
        return index
    }

    /// The index of a name that wasn't predicted.
    @inline(never)
    mutating func lookUp(_ name: String, in layout: RowLayout) -> Int? {
        let bits = Self.bits(name)
        if let place = entries.firstIndex(where: { $0.bits == bits }) {
            next = place + 1 == entries.count ? 0 : Int32(truncatingIfNeeded: place) + 1
            return entries[place].index
        }
        guard let index = layout.index(of: name) else { return nil }
        if entries.count < 256 {
            entries.append(Entry(name: name, bits: bits, index: index))
            next = 0
        }
        return index
    }
}
