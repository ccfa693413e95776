public import QuarryCore

/// Comma-separated values: <https://www.rfc-editor.org/rfc/rfc4180>.
///
/// ```
/// name,score
/// "O'Hara, Arthur",500
/// Barbara,
/// ```
///
/// Lines end with CR LF. Values with separators, quotes or line ends are quoted. So is text that would read as NULL:
/// empty text is `""`, and NULL is empty.
public struct CSVDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first, even without rows.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    /// The text for NULL.
    public var nullValue: String

    /// The style of blobs.
    public var blobs: DumpBlobStyle

    private var hasHeader = false

    /// Comma-separated values.
    public init(
        header: Bool = true, separator: String = ",", nullValue: String = "", blobs: DumpBlobStyle = .readable
    ) {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
        self.blobs = blobs
    }

    /// Writes a line.
    ///
    /// - throws: `SQLITE_MISUSE` if a reader couldn't distinguish the separator, or the text for NULL, from values.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        try check()
        writeHeader(statement, &stream)
        let fields = stream.values(of: statement).map { value in
            if value.isNull { return nullValue }
            return field(value.text(nullValue: nullValue, blobs: blobs))
        }
        stream.write(fields.joined(separator: separator) + "\r\n")
    }

    /// Writes the header if there was no row.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        writeHeader(statement, &stream)
        hasHeader = false
    }

    private mutating func writeHeader(_ statement: Statement, _ stream: inout DumpStream) {
        guard header, !hasHeader, statement.columnCount > 0 else { return }
        hasHeader = true
        stream.write(stream.columnNames(of: statement).map(field).joined(separator: separator) + "\r\n")
    }

    private func field(_ text: String) -> String {
        let bytes = text.utf8
        let isPlain =
            text != nullValue && !bytes.isEmpty && !bytes.contains { [0x0A, 0x0D, 0x22].contains($0) }
            && !text.unicodeScalars.contains(separator.unicodeScalars)
        if isPlain { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted.unicodeScalars.append("\"") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    private func check() throws {
        func isBad(_ text: String) -> Bool { text.utf8.contains { [0x0A, 0x0D, 0x22].contains($0) } }
        if separator.isEmpty || isBad(separator) {
            throw DatabaseError.misuse("not a separator of CSV: \(String(reflecting: separator))")
        }
        if isBad(nullValue) || nullValue.unicodeScalars.contains(separator.unicodeScalars) {
            throw DatabaseError.misuse("not a text for NULL in CSV: \(String(reflecting: nullValue))")
        }
    }
}

extension DumpFormat where Self == CSVDumpFormat {
    /// Comma-separated values: `Arthur,500`.
    ///
    /// - parameter header: whether the names of the columns come first.
    /// - parameter separator: the text between two values; `"\t"` and `";"` are common too.
    /// - parameter nullValue: the text for NULL. The same text as a value is quoted.
    /// - parameter blobs: the style of blobs.
    public static func csv(
        header: Bool = true, separator: String = ",", nullValue: String = "", blobs: DumpBlobStyle = .readable
    ) -> Self {
        CSVDumpFormat(header: header, separator: separator, nullValue: nullValue, blobs: blobs)
    }
}
