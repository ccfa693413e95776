import Foundation

extension [CodingUserInfoKey: Any] {
    /// The same dictionary, as Foundation's coders declare their `userInfo`.
    ///
    /// A marker protocol is no part of a type at run time, so that both are one type there; but the compiler allows no
    /// cast to it. Nothing is sent: who asks for a coder gets a new one.
    var asSendable: [CodingUserInfoKey: any Sendable] {
        unsafeBitCast(self, to: [CodingUserInfoKey: any Sendable].self)
    }
}
