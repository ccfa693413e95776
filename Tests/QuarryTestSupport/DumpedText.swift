/// Keeps what is written.
public final class DumpedText: TextOutputStream {
    public private(set) var text = ""

    /// The longest text that was written at once.
    public private(set) var longest = 0

    public func write(_ string: String) {
        text += string
        longest = max(longest, string.utf8.count)
    }

    public init() {}

    /// The text that a dump writes.
    public static func of(_ dump: (DumpedText) throws -> Void) rethrows -> String {
        let stream = DumpedText()
        try dump(stream)
        return stream.text
    }
}
