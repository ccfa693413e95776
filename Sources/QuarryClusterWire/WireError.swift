/// Bytes that are no message, or a message that can't be written as bytes.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a problem.
    public enum Reason: Hashable, Sendable {
        /// The body ends within a field.
        case truncated

        /// The body goes on behind its last field.
        case trailingBytes

        /// A frame is larger than its reader accepts, or than 4,294,967,295 words.
        case oversized

        /// A text has no NUL at its end.
        case unterminatedText

        /// A text isn't UTF-8.
        case invalidUTF8

        /// A text that contains a NUL: the wire ends texts with one, so the rest would be lost.
        case textWithNUL

        /// A number that the protocol has no meaning for: the type of a message or a value, a role, a schema.
        case unknownCode

        /// A count that the protocol doesn't allow, or that the body has no room for.
        case wrongCount
    }

    /// The kind of the problem.
    public let reason: Reason

    /// The message, the field and the numbers concerned.
    public let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
