public import QuarryCore

/// The values of a row on a line, as SQLite's shell prints them in its mode `list`.
///
/// ```
/// Arthur|500
/// Barbara|
/// ```
///
/// Blobs are always written as text. For other styles of values see
/// ``DebugDumpFormat`` and ``QuoteDumpFormat``.
public struct ListDumpFormat: DumpFormat, Sendable {
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
        let texts = stream.values(of: statement).map { $0.plainText(nullValue: nullValue) }
        stream.write(texts.joined(separator: separator) + "\n")
    }

    /// Forgets the columns.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        headerLine = DumpHeader()
    }
}

extension DumpFormat where Self == ListDumpFormat {
    /// The values of a row on a line: `Arthur|500`.
    ///
    /// - parameter header: whether the names of the columns come first.
    /// - parameter separator: the text between two values.
    /// - parameter nullValue: the text for NULL.
    public static func list(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}

extension DatabaseValue {
    /// Numbers and texts unchanged, blobs as text.
    func plainText(nullValue: String) -> String {
        switch rawStorage {
        case .null: nullValue
        case .int64(let integer): "\(integer)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Numbers and texts unchanged.
    func text(nullValue: String, blobs: DumpBlobStyle) -> String {
        if case .blob(let bytes) = rawStorage { blobs.text(bytes) } else { plainText(nullValue: nullValue) }
    }
}
