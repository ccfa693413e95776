/// Gives the rows of an execution lists of other rows, once all rows have been read.
///
/// An execution with a supplement reads its rows before the first is decoded.
package protocol RowSupplement: AnyObject {
    /// Whether only the first row is wanted.
    var takesOneRow: Bool { get }

    /// Gives rows, which are copies, their lists.
    ///
    /// - parameter isDecodedAtOnce: whether all rows are decoded before the call that fetches them returns: then
    ///   the lists can be fetched on demand.
    func supply(_ rows: [Row], isDecodedAtOnce: Bool) throws

    /// Throws the error of decoding a row that could not be thrown where it occurred.
    func check() throws

    /// Called when all rows are decoded and the unneeded rows are released.
    func finish() throws
}

/// The rows of an execution with a supplement.
final class BufferedRows {
    private var rows: [Row]
    private var next = 0

    init(_ rows: [Row]) { self.rows = rows }

    // User code may have kept the last row.
    deinit { _ = leaveRow() }

    /// The next row, with the attachment of the last one.
    func nextRow() -> Row? {
        let attachment = leaveRow()
        guard next < rows.count else {
            rows = []
            return nil
        }
        next += 1
        rows[next - 1].adaptedSource?.becomeCurrent(attachment)
        return rows[next - 1]
    }

    private func leaveRow() -> AnyObject? {
        next == 0 || rows.isEmpty ? nil : rows[next - 1].adaptedSource?.resignCurrent()
    }
}

extension AdapterBox {
    /// The box of an execution that reads all rows first; nil for others.
    func buffering(outlivesCall: Bool) -> AdapterBox? {
        supplement.map { AdapterBox(adapter, $0, outlivesCall: outlivesCall) }
    }
}

extension Execution {
    /// Advances to the next buffered row; the first call reads all rows.
    mutating func advanceBuffered(_ box: AdapterBox, _ supplement: any RowSupplement) throws -> Bool {
        try statement.lifetime.checkAccess()
        do {
            if box.buffer == nil {
                box.buffer = BufferedRows(try readAll(supplement, box))
                state = .buffered
            } else {
                try supplement.check()
            }
            if let next = box.buffer?.nextRow() {
                row = next
                return true
            }
            // User code may have kept the last row.
            row = Row()
            try supplement.finish()
        } catch {
            state = .ended
            throw error
        }
        state = .ended
        return false
    }

    private mutating func readAll(_ supplement: any RowSupplement, _ box: AdapterBox) throws -> [Row] {
        var rows: [Row] = []
        state = .stepping(begunID)
        while try advance() {
            rows.append(row.copy())
            if supplement.takesOneRow { break }
        }
        statement.abandonExecution(begunID)
        try supplement.supply(rows, isDecodedAtOnce: !box.outlivesCall && !supplement.takesOneRow)
        return rows
    }
}

extension PreparedRequest {
    /// The supplement of the rows, if any.
    package var supplement: (any RowSupplement)? { adapterBox?.supplement }

    /// A statement whose rows are seen through an adapter, and the supplement of the rows.
    package init(statement: Statement, adapter: any RowAdapter, supplement: (any RowSupplement)?) {
        self.init(statement: statement)
        adapterBox = AdapterBox(adapter, supplement)
    }

    /// Runs the statement, and calls a closure with each row; the row changes at the next call.
    package consuming func forEachRow(_ body: (Row) throws -> Void) throws {
        var execution = try Execution(statement, adapterBox)
        while try execution.advance() { try body(execution.row) }
    }
}
