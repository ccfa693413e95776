public import QuarryCore

/// Each value on a line with the name of its column, as SQLite's shell prints them in its mode `line`.
///
/// ```
///  name = Arthur
/// score = 500
///
///  name = Barbara
/// score =
/// ```
public struct LineDumpFormat: DumpFormat, Sendable {
    /// The text for NULL.
    public var nullValue: String

    /// The beginnings of the lines.
    private var names: [String]?

    /// Each value on a line.
    public init(nullValue: String = "") { self.nullValue = nullValue }

    /// Writes the lines of a row.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        let names = names ?? Self.aligned(stream.columnNames(of: statement))
        self.names = names
        for (name, value) in zip(names, stream.values(of: statement)) {
            stream.write("\(name) = \(value.plainText(nullValue: nullValue))\n")
        }
        stream.margin()
    }

    /// Forgets the columns.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) { names = nil }

    private static func aligned(_ names: [String]) -> [String] {
        let width = names.map(\.count).max() ?? 0
        return names.map { String(repeating: " ", count: width - $0.count) + $0 }
    }
}

extension DumpFormat where Self == LineDumpFormat {
    /// Each value on a line with the name of its column: `name = Arthur`.
    ///
    /// - parameter nullValue: the text for NULL.
    public static func line(nullValue: String = "") -> Self { LineDumpFormat(nullValue: nullValue) }
}
