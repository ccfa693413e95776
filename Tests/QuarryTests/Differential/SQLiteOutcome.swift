import Quarry
import QuarryFixtures

/// A value, with the bits it came with.
enum ExactValue: Hashable, CustomStringConvertible {
    case null
    case integer(Int64)
    /// The bits tell -0 from 0.
    case real(UInt64)
    /// The bytes, which need not be UTF-8.
    case text([UInt8])
    case blob([UInt8])

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes):
            "text \(bytes.count > 60 ? "of \(bytes.count) bytes" : String(reflecting: String(decoding: bytes, as: UTF8.self)))"
        case .blob(let bytes): "blob \(bytes.count > 60 ? "of \(bytes.count) bytes" : "\(bytes)")"
        }
    }
}

/// The outcome of a statement, as far as a caller can see it.
struct SQLiteOutcome: Equatable {
    struct Failure: Equatable {
        var code: CInt
        var message: String
    }

    /// nil where it was run in a way that tells nothing of them.
    var columns: [String]?
    var rows: [[ExactValue]]?
    var failure: Failure?
    var changes = 0
    var totalChanges = 0
    var lastRowID: Int64 = 0
    var isAutocommit = true

    /// The first difference from the expected outcome; nil if there is none.
    func difference(from expected: SQLiteOutcome) -> String? {
        if failure != expected.failure {
            return "failure: \(text(failure)), not \(text(expected.failure))"
        }
        if let columns, let names = expected.columns, columns != names { return "columns: \(columns), not \(names)" }
        if let rows, let others = expected.rows, rows != others {
            guard rows.count == others.count else { return "\(rows.count) rows, not \(others.count)" }
            for (index, (row, other)) in zip(rows, others).enumerated() where row != other {
                return "row \(index): \(row), not \(other)"
            }
        }
        if changes != expected.changes { return "changes: \(changes), not \(expected.changes)" }
        if totalChanges != expected.totalChanges {
            return "total changes: \(totalChanges), not \(expected.totalChanges)"
        }
        if lastRowID != expected.lastRowID { return "last rowid: \(lastRowID), not \(expected.lastRowID)" }
        if isAutocommit != expected.isAutocommit { return "autocommit: \(isAutocommit), not \(expected.isAutocommit)" }
        return nil
    }

    private func text(_ failure: Failure?) -> String { failure.map { "\($0.code) \($0.message)" } ?? "none" }
}

/// A statement of a random program.
struct RandomStatement {
    var sql: String
    var arguments: [ExactValue] = []
    /// Whether it may change which tables and columns there are.
    var changesSchema = false
}
