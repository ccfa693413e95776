import QuarryCore

/// Facts about the names that a record's code uses, in the order in which it uses them: which columns its keys read or
/// set, or which parameters its columns set.
///
/// A name is compared with the one that is expected next. The name of a coding key is a string that its type makes each
/// time: so a key of one byte, such as a case of an enum, is asked for its name until it is known, and from then on it
/// is found by the byte.
///
/// Assumption: a trivial type of one byte has one name for each byte. `isByte` checks the type; keys of other types are
/// found by their names, which is the slow way. Asking for names costs an insert of ten columns some 700 instructions.
struct KeyTable<Fact>: ~Copyable {
    /// Where a key is found.
    struct KnownKey {
        /// The number of its column or parameter; negative if there is none.
        var number: Int32 = -1
        /// Its place among the names; negative while the key isn't known.
        var place: Int16 = -1
        /// Whether the column has a type that converts itself.
        var convertsItself = false
    }

    /// The names.
    private(set) var names: NameMemo

    /// The facts about them, by their places.
    var facts: [Fact]

    /// The type of the known keys.
    private(set) var keyType: ObjectIdentifier?

    /// The known keys by their byte; nil if there is none.
    private var known: UnsafeMutablePointer<KnownKey>?

    /// Memory for them.
    private var memory: UnsafeMutablePointer<KnownKey>?

    private static var byteCount: Int { 256 }

    init(names: [String] = [], facts: [Fact] = []) {
        self.names = NameMemo(inOrder: names)
        self.facts = facts
    }

    deinit { memory?.deallocate() }

    /// Whether keys of a type are found by their byte.
    static func isByte<Key: CodingKey>(_ type: Key.Type) -> Bool { MemoryLayout<Key>.size == 1 && _isPOD(Key.self) }

    @inline(__always)
    private static func byte<Key: CodingKey>(of key: Key) -> Int { Int(unsafeBitCast(key, to: UInt8.self)) }

    /// The place of a name, if it is the expected one.
    @inline(__always)
    mutating func expectedPlace(_ name: String) -> Int? { names.expectedPlace(name) }

    /// The place of a name that isn't the expected one; nil for an unknown name.
    mutating func place(_ name: String) -> Int? { names.place(name, spelled: true) }

    /// Remembers a new name.
    ///
    /// - returns: its place.
    mutating func append(_ name: String, _ fact: Fact) -> Int {
        if let place = names.append(name) {
            // One block, as for the names.
            if facts.isEmpty { facts.reserveCapacity(8) }
            facts.append(fact)
            return place
        }
        // More names than are remembered.
        names = NameMemo()
        facts = [fact]
        forgetKeys()
        return names.append(name) ?? 0
    }

    /// The place of a key; its `place` is negative if it isn't known. All keys of the table have one type.
    @inline(__always)
    func knownKey(_ key: some CodingKey) -> KnownKey {
        guard let known else { return KnownKey() }
        return known[Self.byte(of: key)]
    }

    /// The same for keys that may be of several types.
    @inline(__always)
    func knownKey<Key: CodingKey>(ofType type: Key.Type, _ key: Key) -> KnownKey {
        keyType == ObjectIdentifier(type) ? known.unsafelyUnwrapped[Self.byte(of: key)] : KnownKey()
    }

    /// Notes where a key was found by its name.
    mutating func remember<Key: CodingKey>(_ key: Key, _ place: Int, number: Int, convertsItself: Bool = false) {
        guard Self.isByte(Key.self), place <= Int16.max else { return }
        if known == nil {
            let memory = memory ?? .allocate(capacity: Self.byteCount)
            memory.initialize(repeating: KnownKey(), count: Self.byteCount)
            self.memory = memory
            known = memory
            keyType = ObjectIdentifier(Key.self)
        }
        guard keyType == ObjectIdentifier(Key.self) else { return }
        known?[Self.byte(of: key)] = KnownKey(
            number: Int32(truncatingIfNeeded: number), place: Int16(truncatingIfNeeded: place),
            convertsItself: convertsItself)
    }

    /// Notes whether the column of the name at a place has a type that converts itself.
    mutating func setConvertsItself(_ convertsItself: Bool, at place: Int) {
        guard let known else { return }
        for byte in 0..<Self.byteCount where Int(known[byte].place) == place {
            known[byte].convertsItself = convertsItself
        }
    }

    /// Asks for names again.
    mutating func forgetKeys() {
        known = nil
        keyType = nil
    }
}

/// The columns that a record encodes, in their order, and the parameter of a statement that each has.
final class ParameterLayout {
    struct Parameter {
        /// From 1; 0 for a column that the statement doesn't use.
        let index: CInt
        /// Whether it belongs to the key that finds the row.
        let isKey: Bool
    }

    @exclusivity(unchecked)
    var columns: KeyTable<Parameter>

    /// - parameter keyStart: the first parameter of the key; the parameters after it also belong to the key.
    init(names: [String], parameters: [CInt], keyStart: CInt = .max) {
        columns = KeyTable(
            names: names, facts: parameters.map { Parameter(index: $0, isKey: $0 >= keyStart) })
    }

    @inline(__always)
    var count: Int { columns.facts.count }

    /// Whether a column is the one at a place, in the same storage, as it mostly is.
    @inline(__always)
    func isColumn(_ column: String, at place: Int) -> Bool { columns.names.isStored(column, at: place) }

    /// The name of the column at a place.
    func name(at place: Int) -> String { columns.names.entries[place].name }

    /// The parameter of the column at a place.
    @inline(__always)
    func parameter(at place: Int) -> Parameter { columns.facts[place] }
}
