/// A value that SQLite can't represent, and the reason: the integer 2⁶³, a date in year 10000.
///
/// `databaseValue` doesn't throw, so the value carries its error to the binding, which does.
@usableFromInline
package final class UnrepresentableValue: Hashable, Sendable, CustomStringConvertible {
    /// The value, in human-readable form.
    @usableFromInline
    package let description: String

    /// The reason, as a clause: "it doesn't fit in a signed integer of 64 bits".
    package let reason: String

    @usableFromInline
    init(_ description: String, reason: String) {
        self.description = description
        self.reason = reason
    }

    /// Whether both have the same value and the same reason.
    @usableFromInline
    package static func == (lhs: UnrepresentableValue, rhs: UnrepresentableValue) -> Bool {
        lhs.description == rhs.description && lhs.reason == rhs.reason
    }

    /// Hashes the description.
    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(description)
    }
}

extension DatabaseValue {
    /// The reason that the value can't be stored, as a clause; nil for a value that can be.
    package var reasonItIsUnrepresentable: String? {
        if case .unrepresentable(let value) = content { value.reason } else { nil }
    }

    /// A value that can't be stored: binding it throws a `DatabaseError` with the code `SQLITE_MISMATCH`.
    ///
    /// - parameter description: the value, in human-readable form.
    /// - parameter reason: the reason, as a clause.
    @inlinable
    package static func unrepresentable(_ description: String, reason: String) -> DatabaseValue {
        DatabaseValue(content: .unrepresentable(UnrepresentableValue(description, reason: reason)))
    }
}
