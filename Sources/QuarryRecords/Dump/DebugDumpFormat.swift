public import QuarryCore

/// The values of a row on a line, for programmers to read: the default format of a dump.
///
/// ```
/// Arthur|500
/// Barbara|
/// ```
///
/// A blob is written as text if its bytes are UTF-8, as a UUID if it has 16 other bytes, or else as `X'0AFF'`.
public struct DebugDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first, if there is a row.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    /// The text for NULL.
    public var nullValue: String

    private var headerLine = DumpHeader()

    /// The values of a row on a line.
    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
    }

    /// Writes a line.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if header { headerLine.write(statement, separator: separator, to: &stream) }
        let texts = stream.values(of: statement).map { $0.uuidText ?? $0.text(nullValue: nullValue, blobs: .readable) }
        stream.write(texts.joined(separator: separator) + "\n")
    }

    /// Forgets the columns.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        headerLine = DumpHeader()
    }
}

extension DatabaseValue {
    /// A blob of 16 bytes that aren't text, as a UUID: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    fileprivate var uuidText: String? {
        guard case .blob(let bytes) = storage, bytes.count == 16, String(validating: bytes, as: UTF8.self) == nil else {
            return nil
        }
        let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return parts.map { Array(bytes[$0]).digits }.joined(separator: "-")
    }
}

extension DumpFormat where Self == DebugDumpFormat {
    /// The values of a row on a line, blobs as text if they are UTF-8: `Arthur|500`.
    ///
    /// - parameter header: whether the names of the columns come first.
    /// - parameter separator: the text between two values.
    /// - parameter nullValue: the text for NULL.
    public static func debug(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        DebugDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
