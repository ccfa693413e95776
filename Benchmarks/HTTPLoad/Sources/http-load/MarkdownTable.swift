/// A table for a page of documentation.
struct MarkdownTable: CustomStringConvertible {
    private let columns: [String]
    private var rows: [[String]] = []

    init(_ columns: [String]) { self.columns = columns }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var description: String {
        ([columns, columns.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }
}
