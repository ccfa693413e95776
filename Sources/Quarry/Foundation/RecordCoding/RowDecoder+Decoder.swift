import QuarryCore

extension RowDecoder: Decoder {
    var userInfo: [CodingUserInfoKey: Any] { type.databaseDecodingUserInfo }

    func container<Key: CodingKey>(keyedBy keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if current == nil { throw DecoderIsOver() }
        if let given = container(ObjectIdentifier(keys)) {
            if let type = given.type {
                return type._withUnsafeGuaranteedRef {
                    unsafeDowncast($0, to: ContainerTypeOf<KeyedDecodingContainer<Key>>.self).container(given.object)
                }
            }
            return unsafeBitCast(given.object.takeUnretainedValue(), to: KeyedDecodingContainer<Key>.self)
        }
        let plan = KeyPlan(self, keys)
        plans.append(plan)
        let container = KeyedDecodingContainer(RowKeyedDecodingContainer<Key>(plan))
        giveOut(unsafeBitCast(container, to: AnyObject.self), ObjectIdentifier(keys)) {
            ContainerTypeOf<KeyedDecodingContainer<Key>>()
        }
        return container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw try row().decodingError("a row has named columns: \(type) can't be decoded as a list")
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { RowSingleValueContainer(decoder: self) }
}

/// For those who keep a decoder.
struct DecoderIsOver: Error, CustomStringConvertible {
    var description: String { "a row's decoder has been used after the row" }
}

/// Gives out the decoder of some JSON.
struct DecoderOfJSON: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
}

/// A value of a type that is known to be the other.
@inline(__always)
func reinterpret<From, To>(_ value: From, as type: To.Type = To.self) -> To {
    unsafeBitCast(value, to: To.self)
}
