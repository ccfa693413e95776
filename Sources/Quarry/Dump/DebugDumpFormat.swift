public import QuarryCore

/// The values of a row on a line, for programmers to read: the format of a dump that names none.
///
/// ```
/// Arthur|500
/// Barbara|
/// ```
///
/// A blob is written as text where its bytes are UTF-8, else as `X'0AFF'`.
public struct DebugDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first, where there is a row.
    public var header: Bool

    /// What stands between two values.
    public var separator: String

    /// What stands for NULL.
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
        let texts = stream.values(of: statement).map { $0.text(nullValue: nullValue, blobs: .readable) }
        stream.write(texts.joined(separator: separator) + "\n")
    }

    /// Forgets the columns.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        headerLine = DumpHeader()
    }
}

extension DumpFormat where Self == DebugDumpFormat {
    /// The values of a row on a line, blobs as text where they are: `Arthur|500`.
    ///
    /// - parameter header: whether the names of the columns come first.
    /// - parameter separator: what stands between two values.
    /// - parameter nullValue: what stands for NULL.
    public static func debug(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        DebugDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
