import Foundation

extension [CodingUserInfoKey: Any] {
    /// The same dictionary, as Foundation's coders declare their `userInfo`.
    ///
    /// A marker protocol isn't part of a type at run time, so both dictionaries have the same type at run time; but the
    /// compiler doesn't allow the cast. No value crosses threads: each request for a coder receives a new one.
    var asSendable: [CodingUserInfoKey: any Sendable] {
        unsafeBitCast(self, to: [CodingUserInfoKey: any Sendable].self)
    }
}
