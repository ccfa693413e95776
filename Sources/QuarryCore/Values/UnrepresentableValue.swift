/// A value that has no form in SQLite, and why: the integer 2⁶³, a date in year 10000.
///
/// `databaseValue` doesn't throw, so the value carries its error to the binding, which does.
@usableFromInline
package final class UnrepresentableValue: Hashable, Sendable, CustomStringConvertible {
    /// The value, for people.
    @usableFromInline
    package let description: String

    /// What is wrong with it: "it doesn't fit in a signed integer of 64 bits".
    package let reason: String

    @usableFromInline
    init(_ description: String, reason: String) {
        self.description = description
        self.reason = reason
    }

    /// Whether both describe one value, and what is wrong with it.
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
    /// Why the value can't be stored, as a clause; nil for what can be.
    package var reasonItIsUnrepresentable: String? {
        if case .unrepresentable(let value) = content { value.reason } else { nil }
    }

    /// What can't be stored: binding it throws a `DatabaseError` with the code `SQLITE_MISMATCH`.
    ///
    /// - parameter description: the value, for people.
    /// - parameter reason: what is wrong with it, as a clause.
    @inlinable
    package static func unrepresentable(_ description: String, reason: String) -> DatabaseValue {
        DatabaseValue(content: .unrepresentable(UnrepresentableValue(description, reason: reason)))
    }
}
