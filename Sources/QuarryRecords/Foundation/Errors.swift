public import Foundation
public import QuarryCore

extension DatabaseError: LocalizedError, CustomNSError {
    /// The `description`, without arguments unless they are public.
    public var errorDescription: String? { description }

    /// The message.
    public var failureReason: String? { message }

    /// `Quarry.DatabaseError`
    public static var errorDomain: String { "Quarry.DatabaseError" }

    /// The extended result code.
    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    /// The description, and the message as reason.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        userInfo[NSLocalizedFailureReasonErrorKey] = message
        return userInfo
    }
}

extension RowDecodingError: LocalizedError {
    /// The `description`.
    public var errorDescription: String? { description }
}
