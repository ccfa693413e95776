/// Remembers names, which are found in the order in which they are requested.
///
/// Code that reads the columns of rows names the same columns in the same order for each row. So comparing
/// two words finds the expected name, without hashing. After an unexpected name, the memo expects that name at the same
/// place the next time.
///
/// Not generic: a debug build specialises nothing, and an array of structs by name spent a tenth of its time on the
/// metadata of entries.
@usableFromInline
package struct NameMemo {
    @usableFromInline
    package struct Entry {
        /// Keeps the name's storage, so that equal bits mean an equal name.
        @usableFromInline package let name: String
        @usableFromInline let bits: StringBits

        /// The place of the name that came after this one.
        @usableFromInline var following: Int16

        /// A column with the name, if the memo is that of a row: SQLite's rows have at most 32767.
        @usableFromInline let column: Int16

        @usableFromInline
        init(name: String, column: Int16) {
            self.name = name
            bits = StringBits(name)
            following = 0
            self.column = column
        }
    }

    /// Names beyond this number are neither expected nor remembered.
    @inlinable
    static var maximumCount: Int { 256 }

    /// The names, in the order of their first use.
    @usableFromInline
    package var entries: [Entry] = []

    // Of 16 bits, to leave room for other fields.

    /// The place of the expected name.
    @usableFromInline
    var expected: Int16 = 0

    /// The place of the last name.
    @usableFromInline
    var last: Int16 = 0

    @inlinable
    package init() {}

    /// Names that always come in this order, however many: each is compared with the name at its place.
    package init(inOrder names: [String]) { entries = names.map { Entry(name: $0, column: 0) } }

    /// Whether a name is the one at a place, in the same storage.
    @inlinable
    @inline(__always)
    package func isStored(_ name: String, at place: Int) -> Bool {
        entries[place].bits == StringBits(name)
    }

    /// The place of a name, if it is the expected one.
    @inlinable
    @inline(__always)
    package mutating func expectedPlace(_ name: String) -> Int? {
        let place = Int(expected)
        guard place < entries.count else { return nil }
        let entry = entries[place]
        guard entry.bits == StringBits(name) else { return nil }
        last = expected
        expected = entry.following
        return place
    }

    /// The place of a name that isn't the expected one; nil for an unknown name.
    ///
    /// - parameter spelled: whether to compare the bytes, not only the storage.
    @inlinable
    package mutating func place(_ name: String, spelled: Bool) -> Int? {
        let bits = StringBits(name)
        let known =
            entries.firstIndex { $0.bits == bits }
            ?? (spelled ? entries.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } : nil)
        // The same name again says nothing about the order.
        guard let known, known != Int(last) else { return known }
        expect(known)
        return known
    }

    /// Remembers a new name.
    ///
    /// - returns: its place; nil if there are too many names.
    @inlinable
    package mutating func append(_ name: String, column: Int = 0) -> Int? {
        guard entries.count < Self.maximumCount else { return nil }
        // One block for up to eight names, rather than one for each power of two.
        if entries.isEmpty { entries.reserveCapacity(8) }
        entries.append(Entry(name: name, column: Int16(truncatingIfNeeded: column)))
        expect(entries.count - 1)
        return entries.count - 1
    }

    /// Notes that a name came after the last one.
    @usableFromInline
    mutating func expect(_ place: Int) {
        entries[Int(last)].following = Int16(truncatingIfNeeded: place)
        last = Int16(truncatingIfNeeded: place)
        expected = entries[place].following
    }

    /// Expects the first name again.
    @inlinable
    @inline(__always)
    package mutating func rewind() { expected = 0 }
}
