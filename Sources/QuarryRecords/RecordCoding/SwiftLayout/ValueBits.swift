import QuarryCore

// Values as their bits.

/// A value of a type that is known to be the other type.
///
/// Assumption: none, if the caller has compared the types; `unsafeBitCast` checks the sizes. The slow way is the cast
/// `value as! To`, which looks up the conformances of both types.
@inline(__always)
func reinterpret<From, To>(_ value: From, as type: To.Type = To.self) -> To {
    unsafeBitCast(value, to: To.self)
}

/// The same for a value whose type is only known now.
func reinterpret<To>(opening value: some DatabaseValueConvertible, as type: To.Type = To.self) -> To {
    reinterpret(value)
}

extension String {
    /// Whether both have the same bytes: ``isIdentical(to:)``, quick for the same storage, which is usual.
    ///
    /// Assumption: that of `StringBits`. The slow way follows in the same line.
    @inline(__always)
    func isSpelled(as other: String) -> Bool { StringBits(self) == StringBits(other) || isIdentical(to: other) }
}

/// Memory for one value that is read where its type isn't known, and moved to where it is.
///
/// Assumption: none, if `fits` has checked the size of the type. The slow way is a cast of the value, which
/// `DecodingSession.decodeConvertible` has. It costs 20 % of decoding a player with a date.
struct ValuePlace {
    let address = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)

    private static var size: Int { 32 }
    private static var alignment: Int { 16 }

    static func fits<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= size && MemoryLayout<Value>.alignment <= alignment
    }

    /// The value that was read. It is moved, because a copy would count its references.
    @inline(__always)
    func move<Value>(as type: Value.Type = Value.self) -> Value {
        address.assumingMemoryBound(to: Value.self).move()
    }

    func deallocate() { address.deallocate() }
}
