/// The memory layout of an optional existential. Copying one calls the Swift runtime, which costs more than binding its
/// value.
///
/// The layout has three words for the content or a pointer to it, then the type, then the conformance; nil has no type.
/// Swift 5 and 6 use this layout but don't guarantee it, so it is checked at run time.
struct ArgumentLayout {
    static let current = ArgumentLayout()

    private static let typeOffset = 3 * MemoryLayout<Int>.size

    private let isKnown: Bool
    private let int = unsafeBitCast(Int.self as Any.Type, to: Int.self)
    private let int64 = unsafeBitCast(Int64.self as Any.Type, to: Int.self)
    private let double = unsafeBitCast(Double.self as Any.Type, to: Int.self)
    private let string = unsafeBitCast(String.self as Any.Type, to: Int.self)

    private init() {
        typealias Element = any DatabaseValueConvertible
        let none: Element? = nil
        let some: Element? = 1
        isKnown =
            MemoryLayout<Element?>.size == MemoryLayout<Element>.size
            && withUnsafeBytes(of: none) { $0.load(fromByteOffset: Self.typeOffset, as: Int.self) } == 0
            && withUnsafeBytes(of: some) { $0.load(fromByteOffset: Self.typeOffset, as: Int.self) } == int
    }

    /// The value of an element, without copying the element.
    @inline(__always)
    func value(of element: UnsafePointer<(any DatabaseValueConvertible)?>) -> DatabaseValue {
        guard isKnown else { return element.pointee?.databaseValue ?? .null }
        let bytes = UnsafeRawPointer(element)
        // Most arguments are of these types, which the existential holds inline.
        switch bytes.load(fromByteOffset: Self.typeOffset, as: Int.self) {
        case 0: return .null
        case int: return DatabaseValue(content: .int64(Int64(bytes.load(as: Int.self))))
        case string: return DatabaseValue(content: .string(bytes.assumingMemoryBound(to: String.self).pointee))
        case int64: return DatabaseValue(content: .int64(bytes.load(as: Int64.self)))
        case double: return bytes.load(as: Double.self).databaseValue
        default: return bytes.assumingMemoryBound(to: (any DatabaseValueConvertible).self).pointee.databaseValue
        }
    }
}
