public import QuarryCore

/// Where a dump format writes.
///
/// What is written for a row goes to the text stream when the row is complete: a dump needs memory for one row.
public struct DumpStream: TextOutputStream {
    private var base: any TextOutputStream

    /// What the base hasn't got.
    private var pending = ""

    private var isEmpty = true
    private var needsMargin = false

    /// The columns of the statement that is dumped; nil for all it has.
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

    /// Puts an empty line before what is written next, unless nothing comes before or after it.
    public mutating func margin() { needsMargin = true }

    /// Gives what was written to the base.
    mutating func flush() {
        guard !pending.isEmpty else { return }
        base.write(pending)
        pending.removeAll(keepingCapacity: pending.utf8.count < 1 << 16)
    }

    /// Throws the error of a stream that fails.
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

    /// The places of the columns in the statement.
    func indices(of statement: Statement) -> [Int] { columns?.indices ?? Array(0..<statement.columnCount) }
}

/// The columns of a result that are written: not those that prefetches need, and nobody has asked for.
struct DumpedColumns {
    var indices: [Int]
    var names: [String]
}

/// A text stream that can fail: a file.
///
/// A dump looks after each row, and throws the error.
public protocol ThrowingTextOutputStream: TextOutputStream {
    /// The first error; nil if all was written.
    var writeError: (any Error)? { get }
}
