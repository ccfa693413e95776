import QuarryClusterWire
import QuarryCore

/// The rows of a query, page by page as the node sends them.
///
/// A node answers one request after the other, so the session lets the rows read the rest of their pages before it
/// sends another one.
final class SessionRows: RemoteRows {
    let columnCount: Int
    private let columnNames: [String]

    private var page: RowPage
    private var reader: RowReader
    private var laterPages: [RowPage] = []
    private var nextPage = 0

    /// Receives pages; nil after the last one.
    private var session: ClusterSession?

    /// The error of a page that was read ahead, until the rows before it have been read.
    private var failure: DatabaseError?

    /// - parameter session: receives the pages that follow; nil if none does.
    init(_ first: RowPage, _ session: ClusterSession?) throws(WireError) {
        page = first
        columnCount = first.columnCount
        columnNames = try first.columnNames()
        reader = first.makeReader()
        self.session = first.hasMore ? session : nil
    }

    func columnName(_ index: Int) -> String { columnNames[index] }

    /// Whether pages are still to come from the node.
    var isStreaming: Bool { session != nil }

    func next() throws(DatabaseError) -> Bool {
        do {
            while try !reader.next() {
                guard try goToNextPage() else { return false }
            }
            return true
        } catch let error as DatabaseError {
            throw error
        } catch {
            session?.fail("a page has no valid rows: \(error)")
            session = nil
            throw DatabaseError(resultCode: .SQLITE_PROTOCOL, message: "\(error)")
        }
    }

    private func goToNextPage() throws -> Bool {
        if nextPage == laterPages.count {
            laterPages.removeAll()
            nextPage = 0
            if let failure { throw failure }
            guard try receivePage() else { return false }
        }
        page = laterPages[nextPage]
        nextPage += 1
        reader = page.makeReader()
        return true
    }

    private func receivePage() throws(DatabaseError) -> Bool {
        guard let session else { return false }
        do {
            let page = try session.receivePage(columnCount: columnCount)
            laterPages.append(page)
            if !page.hasMore { endStream() }
            return true
        } catch {
            endStream()
            throw error
        }
    }

    private func endStream() {
        session?.streamDidEnd()
        session = nil
    }

    /// The link has ended. Another one would send the rows of other queries.
    func linkDidEnd() {
        guard session != nil else { return }
        session = nil
        failure = DatabaseError(
            resultCode: .SQLITE_ABORT_ROLLBACK,
            message: "The rest of the rows was lost with the connection. Try again.")
    }

    func withValue(_ index: Int, _ body: (RemoteValue) -> Void) {
        let cell = reader.cells[index]
        switch cell.type {
        case .integer, .unixTime, .boolean: body(.integer(cell.integer))
        case .float: body(.real(cell.float))
        case .null: body(.null)
        case .text, .iso8601:
            page.body.withUnsafeBytes { body(.text(UnsafeRawBufferPointer(rebasing: $0[cell.range]))) }
        case .blob:
            page.body.withUnsafeBytes { body(.blob(UnsafeRawBufferPointer(rebasing: $0[cell.range]))) }
        }
    }

    /// Keeps the rest of the pages, because another request follows.
    func readAhead() {
        do throws(DatabaseError) {
            while session != nil { _ = try receivePage() }
        } catch {
            failure = error
        }
    }

    func close() {
        guard let session else { return }
        // INTERRUPT isn't read before the last page has been sent. The rest is read, unless it costs more than a new
        // connection.
        session.discardPages()
        self.session = nil
    }
}
