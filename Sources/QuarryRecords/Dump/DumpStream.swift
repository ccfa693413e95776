public import QuarryCore

/// The stream that a dump format writes to.
///
/// The text of a row goes to the underlying stream when the row is complete: a dump needs memory for one row.
public struct DumpStream: TextOutputStream {
    private var base: any TextOutputStream

    /// The text that the base hasn't received yet.
    private var pending = ""

    private var isEmpty = true
    private var needsMargin = false

    /// The columns of the statement to dump; nil for all.
    var columns: DumpedColumns?

    init(_ base: any TextOutputStream) { self.base = base }

    // MARK: - Writing

    /// Appends text.
    public mutating func write(_ string: String) {
        guard !string.isEmpty else { return }
        if needsMargin {
            needsMargin = false
            if !isEmpty { pending += "\n" }
        }
        isEmpty = false
        pending += string
    }

    /// Inserts an empty line before the next text, unless nothing precedes or follows it.
    public mutating func margin() { needsMargin = true }

    /// Passes the pending text to the base.
    mutating func flush() {
        guard !pending.isEmpty else { return }
        base.write(pending)
        pending.removeAll(keepingCapacity: pending.utf8.count < 1 << 16)
    }

    /// Throws the error of a failed stream.
    func check() throws {
        if let error = (base as? any ThrowingTextOutputStream)?.writeError { throw error }
    }

    // MARK: - Reading

    /// The names of the columns to write.
    public func columnNames(of statement: Statement) -> [String] { columns?.names ?? statement.columnNames }

    /// The values of the current row, one for each of `columnNames(of:)`.
    public func values(of statement: Statement) -> [DatabaseValue] {
        indices(of: statement).map { DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt($0)) }
    }

    /// The indexes of the columns in the statement.
    func indices(of statement: Statement) -> [Int] { columns?.indices ?? Array(0..<statement.columnCount) }
}

/// The columns of a result to write. Columns that are only selected for prefetches are omitted.
struct DumpedColumns {
    var indices: [Int]
    var names: [String]
}

/// A text stream that can fail, such as a file.
///
/// A dump checks for an error after each row, and throws it.
public protocol ThrowingTextOutputStream: TextOutputStream {
    /// The first error; nil if all was written.
    var writeError: (any Error)? { get }
}
