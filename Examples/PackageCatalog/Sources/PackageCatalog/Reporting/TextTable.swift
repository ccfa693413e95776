/// A table for a terminal, with its columns aligned.
///
///     TextTable("Largest sections", [.left("section"), .right("packages")], rows: [["libs", "1,024"]])
struct TextTable: Sendable, Equatable {
    enum Column: Sendable, Equatable {
        case left(String)
        case right(String)

        var title: String {
            switch self {
            case .left(let title), .right(let title): title
            }
        }
    }

    var title: String
    var columns: [Column]
    var rows: [[String]]

    init(_ title: String, _ columns: [Column], rows: [[String]]) {
        self.title = title
        self.columns = columns
        self.rows = rows
    }
}

extension TextTable: CustomStringConvertible {
    var description: String {
        guard !rows.isEmpty else { return "\(title)\n  (none)\n" }
        let lines = [columns.map(\.title)] + rows.map { $0.map(\.printable) }
        let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let body = lines.map { line in
            let cells = columns.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - line[column].count)
                return if case .left = columns[column] { line[column] + padding } else { padding + line[column] }
            }
            return "  " + cells.joined(separator: "  ").trimmingSuffix(" ")
        }
        return ([title] + body).joined(separator: "\n") + "\n"
    }
}

extension String {
    /// Names come from files that anybody may have written: a control character must not reach the terminal.
    var printable: String {
        let scalars = unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    fileprivate func trimmingSuffix(_ character: Character) -> Substring {
        self[...(lastIndex { $0 != character } ?? startIndex)]
    }
}
