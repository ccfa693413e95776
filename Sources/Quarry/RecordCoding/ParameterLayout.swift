import QuarryCore

/// The columns a record encodes, in their order, and the parameter of a statement that each has.
final class ParameterLayout {
    struct Entry {
        /// Keeps the name's storage, so that equal bits mean an equal name.
        let name: String
        let bits: (UInt64, UInt64)
        /// From 1; 0 for a column that the statement doesn't use.
        let parameter: CInt
        /// Whether it is of the key that finds the row.
        let isKey: Bool
        /// The coding key that gave the name, if it is a byte.
        var key = ByteKey.none
    }

    /// A coding key that is one byte, as those of an enum are: it has one name, which need not be asked for again.
    struct ByteKey {
        let type: ObjectIdentifier
        let byte: UInt8

        /// No key: this type has no values.
        static var none: ByteKey { ByteKey(type: ObjectIdentifier(Never.self), byte: 0) }
    }

    /// They stay where they are: a record is compared with them column by column.
    let entries: UnsafeMutableBufferPointer<Entry>

    /// - parameter keyStart: the first parameter of the key; those after it are the key's too.
    init(names: [String], parameters: [CInt], keyStart: CInt = .max) {
        entries = .allocate(capacity: names.count)
        _ = entries.initialize(
            from: zip(names, parameters).map { name, parameter in
                Entry(
                    name: name, bits: unsafeBitCast(name, to: (UInt64, UInt64).self), parameter: parameter,
                    isKey: parameter >= keyStart)
            })
    }

    deinit {
        entries.deinitialize()
        entries.deallocate()
    }
}

extension String {
    /// Whether both have the same bytes: ``isIdentical(to:)``, quick for the same storage, which it mostly is.
    @inline(__always)
    func isSpelled(as other: String) -> Bool {
        let bits = unsafeBitCast(self, to: (UInt64, UInt64).self)
        let others = unsafeBitCast(other, to: (UInt64, UInt64).self)
        return bits == others || isIdentical(to: other)
    }
}
