import QuarryCore

extension RecordDecoder {
    /// The decoder; throws if it has been kept beyond its record.
    @inline(__always)
    func rowDecoder() throws -> Unmanaged<RowDecoder> {
        guard let decoder = slot.decoder(number) else { throw DecoderIsOver() }
        return decoder
    }

    /// The container for a type of keys: that of the last record, or a new one.
    @inline(__always)
    func givenContainer<Key: CodingKey>(keyedBy keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let decoder = try rowDecoder()
        guard let given = decoder._withUnsafeGuaranteedRef({ $0.container(ObjectIdentifier(keys)) }) else {
            return decoder.takeUnretainedValue().newContainer(keyedBy: keys)
        }
        if let type = given.type {
            return type._withUnsafeGuaranteedRef {
                unsafeDowncast($0, to: ContainerTypeOf<KeyedDecodingContainer<Key>>.self).container(given.object)
            }
        }
        return unsafeBitCast(given.object.takeUnretainedValue(), to: KeyedDecodingContainer<Key>.self)
    }
}

extension RowDecoder {
    @inline(never)
    fileprivate func newContainer<Key: CodingKey>(keyedBy keys: Key.Type) -> KeyedDecodingContainer<Key> {
        let plan = KeyPlan(self, keys)
        plans.append(plan)
        let container = KeyedDecodingContainer(RowKeyedDecodingContainer<Key>(plan))
        giveOut(unsafeBitCast(container, to: AnyObject.self), ObjectIdentifier(keys)) {
            ContainerTypeOf<KeyedDecodingContainer<Key>>()
        }
        return container
    }
}

/// For those who keep a decoder.
struct DecoderIsOver: Error, CustomStringConvertible {
    var description: String { "a row's decoder has been used after the row" }
}

/// A value of a type that is known to be the other.
@inline(__always)
func reinterpret<From, To>(_ value: From, as type: To.Type = To.self) -> To {
    unsafeBitCast(value, to: To.self)
}

/// The same, for a value whose type is only known now.
func reinterpret<To>(opening value: some DatabaseValueConvertible, as type: To.Type = To.self) -> To {
    reinterpret(value)
}
