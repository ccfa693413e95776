/// An optional of any type.
package protocol OptionalValue {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalValue {
    package static var wrapped: Any.Type { Wrapped.self }
}
