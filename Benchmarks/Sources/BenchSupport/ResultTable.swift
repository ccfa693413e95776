import Foundation

/// The results as text, one line for each row.
package struct ResultTable {
    private static let headers = [
        "row", "workload", "C an op", "Quarry/C", "(of minima)", "GRDB/C", "budget", "",
        "mallocs an op C / Quarry / GRDB", "bytes kept",
    ]

    private let lines: [[String]]

    package init(_ results: [RowResult]) {
        lines = results.map { result in
            [
                result.row.id,
                result.row.title,
                Self.time(result.median(.c)),
                Self.ratio(result.ratio(.quarry)),
                Self.ratio(result.ratioOfMinima(.quarry)),
                Self.ratio(result.ratio(.grdb)),
                result.row.budget.description,
                result.verdict.rawValue,
                PeerName.allCases.map { Self.count(result.mallocs[$0]) }.joined(separator: " / "),
                Self.bytes(result),
            ]
        }
    }

    package var text: String {
        let all = [Self.headers] + lines
        let widths = Self.headers.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        let rule = widths.map { String(repeating: "-", count: $0) }
        let leftAligned: Set<Int> = [0, 1, 7]
        return ([Self.headers, rule] + lines)
            .map { cells in
                cells.enumerated()
                    .map { column, cell in
                        let padding = String(repeating: " ", count: widths[column] - cell.count)
                        return leftAligned.contains(column) ? cell + padding : padding + cell
                    }
                    .joined(separator: "  ")
            }
            .joined(separator: "\n")
    }

    private static func time(_ nanoseconds: Double?) -> String {
        guard let nanoseconds else { return "-" }
        return nanoseconds < 1_000
            ? String(format: "%.1f ns", nanoseconds) : String(format: "%.2f us", nanoseconds / 1_000)
    }

    private static func ratio(_ value: Double?) -> String {
        value.map { String(format: "%.2f", $0) } ?? "-"
    }

    private static func bytes(_ result: RowResult) -> String {
        guard !result.bytesKept.isEmpty, let budget = result.row.bytesBudget else { return "" }
        let bytes = PeerName.allCases.map { result.bytesKept[$0].map { String(format: "%.0f", $0) } ?? "-" }
        return bytes.joined(separator: " / ") + String(format: " (budget %.0f)", budget)
    }

    private static func count(_ value: Double?) -> String {
        value.map { String(format: "%.1f", $0) } ?? "-"
    }
}

extension Budget: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timesC(let factor): String(format: "%.2f", factor)
        case .overC(let nanoseconds): String(format: "C + %.0f us", nanoseconds / 1_000)
        case .timesGRDB(let factor): String(format: "GRDB x %.1f", factor)
        case .nanoseconds(let nanoseconds): String(format: "%.0f ns", nanoseconds)
        case .none: "-"
        }
    }
}
