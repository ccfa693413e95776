public import QuarryCore

/// A Markdown table: <https://github.github.com/gfm/#tables-extension->.
///
/// ```
/// | name    | score |
/// | ------- | ----: |
/// | Arthur  |   500 |
/// | Barbara |       |
/// ```
///
/// Markdown syntax in values is escaped, and line ends become `<br>`. The first rows, which are kept in memory,
/// determine the widths of the columns, and the columns that contain only numbers.
public struct MarkdownDumpFormat: DumpFormat, Sendable {
    /// The number of rows that determine the widths of the columns; 0 for unaligned columns.
    public var alignedRows: Int

    /// The text for NULL.
    public var nullValue: String

    /// The style of blobs.
    public var blobs: DumpBlobStyle

    private struct Cell {
        var text: String
        /// nil for NULL.
        var isNumber: Bool?
    }

    private struct Column {
        var width: Int
        var isNumeric: Bool
    }

    /// The rows that are kept until the widths of the columns are known.
    private var rows: [[Cell]] = []

    private var columns: [Column]?

    /// Makes a format of Markdown tables.
    public init(alignedRows: Int = 1000, nullValue: String = "", blobs: DumpBlobStyle = .readable) {
        self.alignedRows = alignedRows
        self.nullValue = nullValue
        self.blobs = blobs
    }

    /// Writes a row, or keeps it if it is one of the first.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        rows.append(
            stream.values(of: statement).map { value in
                let text = Self.escaped(value.text(nullValue: nullValue, blobs: blobs))
                switch value.rawStorage {
                case .null: return Cell(text: text, isNumber: nil)
                case .int64, .double: return Cell(text: text, isNumber: true)
                case .string, .blob: return Cell(text: text, isNumber: false)
                }
            })
        if columns != nil || rows.count >= alignedRows { writeRows(statement, &stream) }
    }

    /// Writes the remaining rows, and the names of the columns if there was no row.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if !rows.isEmpty || columns == nil { writeRows(statement, &stream) }
        columns = nil
    }

    private mutating func writeRows(_ statement: Statement, _ stream: inout DumpStream) {
        guard statement.columnCount > 0 else { return }
        let columns = columns ?? begin(statement, &stream)
        self.columns = columns
        for row in rows {
            writeLine(zip(row, columns).map { Self.padded($0.text, $1.width, toTheRight: $1.isNumeric) }, &stream)
        }
        rows.removeAll(keepingCapacity: true)
    }

    /// Writes the names of the columns.
    private func begin(_ statement: Statement, _ stream: inout DumpStream) -> [Column] {
        let names = stream.columnNames(of: statement).map(Self.escaped)
        let columns = names.indices.map { index -> Column in
            guard alignedRows > 0 else { return Column(width: 0, isNumeric: false) }
            let cells = rows.map { $0[index] }
            let numbers = cells.compactMap(\.isNumber)
            let width = cells.map(\.text.count).max() ?? 0
            return Column(
                width: max(3, names[index].count, width), isNumeric: !numbers.isEmpty && numbers.allSatisfy { $0 })
        }
        writeLine(zip(names, columns).map { Self.padded($0, $1.width, toTheRight: $1.isNumeric) }, &stream)
        writeLine(
            columns.map { column in
                let dashes = String(repeating: "-", count: max(3, column.width) - (column.isNumeric ? 1 : 0))
                return column.isNumeric ? dashes + ":" : dashes
            }, &stream)
        return columns
    }

    private func writeLine(_ cells: [String], _ stream: inout DumpStream) {
        stream.write("| " + cells.joined(separator: " | ") + " |\n")
    }

    private static func padded(_ text: String, _ width: Int, toTheRight: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return toTheRight ? space + text : text + space
    }

    /// Escapes Markdown syntax, and characters that would end the cell.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r":
                if rest.first == "\n" { rest.removeFirst() }
                escaped += "<br>"
            case "\n": escaped += "<br>"
            case "<": escaped += "&lt;"
            case "&": escaped += "&amp;"
            case "\\", "|", "*", "_", "`", "[", "~":
                escaped += "\\"
                escaped.unicodeScalars.append(scalar)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension DumpFormat where Self == MarkdownDumpFormat {
    /// A Markdown table.
    ///
    /// - parameter alignedRows: the number of rows, from the first, that determine the widths of the columns; they are
    ///   kept in memory. 0 for unaligned columns.
    /// - parameter nullValue: the text for NULL.
    /// - parameter blobs: the style of blobs.
    public static func markdown(
        alignedRows: Int = 1000, nullValue: String = "", blobs: DumpBlobStyle = .readable
    ) -> Self {
        MarkdownDumpFormat(alignedRows: alignedRows, nullValue: nullValue, blobs: blobs)
    }
}
