import QuarryCore
import QuarrySQL

/// The rows of one association for all rows of a request: fetched together, and handed out by key.
final class PrefetchedRowsOfKey {
    private let prefetch: Prefetch
    private let fetch: PrefetchingFetch

    /// The columns of the association's first table.
    private let columns: [String]

    /// The indexes of the columns with the key in the rows that the lists belong to.
    private let parentColumns: [Int]

    private var keys: PrefetchKeys

    /// The rows of each key; nil until they are fetched.
    private var rows: [[Row]]?

    /// The prefetches of the rows.
    private var nested: [PrefetchedScope] = []

    /// A `Decoded` for each type.
    private var decoded: [ObjectIdentifier: AnyObject] = [:]

    var key: String { prefetch.key }

    /// The keys of the tables on the way to the rows, separated by dots.
    var pathName: String { (prefetch.path.pivots.map(\.key.plural) + [key]).joined(separator: ".") }

    init(_ prefetch: Prefetch, _ columns: [String], parentColumns: [Int], _ fetch: PrefetchingFetch) {
        self.prefetch = prefetch
        self.columns = columns
        self.parentColumns = parentColumns
        self.fetch = fetch
        keys = PrefetchKeys(width: columns.count)
    }

    /// Keeps an error for the fetch; returns false if the fetch has ended.
    func note(_ error: any Error) -> Bool { fetch.note(error) }

    func findParents(_ rows: [Row]) { for row in rows { keys.addParent(row.unadapted, parentColumns) } }

    // MARK: - Fetching

    private var query: PrefetchQuery { PrefetchQuery(prefetch, columns, fetch.database) }

    /// Fetches the rows and their prefetches, unless they are fetched.
    func fetchRows() throws {
        if rows == nil { rows = try fetchedRows() }
        if !fetch.isDecoding { for scope in nested { try scope.fetchRows() } }
    }

    private func fetchedRows() throws -> [[Row]] {
        var lists = Array(repeating: [Row](), count: keys.count)
        for chunk in try query.chunks(of: keys) {
            let plan = try query.plan(chunk, fetch)
            let columns = try query.keyColumns(in: plan)
            var finder = keys.finder()
            var all: [Row] = []
            let request = plan.prefetches == nil ? query.rows(of: plan) : plan.rows
            try request.forEachRow { row in
                let copy = row.copy()
                for key in finder.keys(of: copy.unadapted, columns) { lists[key].append(copy) }
                if plan.prefetches != nil { all.append(copy) }
            }
            if let prefetches = plan.prefetches {
                try prefetches.supply(all)
                nested.append(prefetches)
            }
        }
        return lists
    }

    /// Calls a closure with each of the plans that together fetch the rows, and the indexes of its key columns. If no
    /// row has a key, a single plan fetches no rows.
    func forEachPlan(_ body: (RequestLayout, [Int]) throws -> Void) throws {
        let chunks = try query.chunks(of: keys)
        for chunk in chunks.isEmpty ? [[]] : chunks {
            let plan = try query.plan(chunk, fetch)
            try body(plan, query.keyColumns(in: plan))
        }
    }

    /// Releases the rows when their parents have been released. Prefetches the associated rows of rows that user code
    /// has kept.
    func finish() throws {
        rows = nil
        for index in nested.indices {
            if isKnownUniquelyReferenced(&nested[index]) {
                try nested[index].finish()
            } else {
                try nested[index].fetchRows()
            }
        }
    }

    // MARK: - Values

    /// The decoded records of a type, for each key.
    private final class Decoded<Record> {
        var lists: [[Record]?]

        init(_ lists: [[Record]?]) { self.lists = lists }
    }

    /// The rows associated with a parent; none if an error is kept for the fetch.
    func rows(of parent: Int) -> [Row] {
        do {
            return try allRows(of: parent)
        } catch {
            _ = fetch.note(error)
            return []
        }
    }

    /// The rows associated with a parent.
    ///
    /// - throws: `DatabaseError` if they have to be fetched.
    func allRows(of parent: Int) throws -> [Row] {
        guard let key = keys.key(ofParent: parent) else { return [] }
        if rows == nil, fetch.isDecoding { try fetchRows() }
        return rows?[key] ?? []
    }

    /// The records associated with a parent.
    func records<Record: FetchableRecord>(_ type: Record.Type, of parent: Int) throws -> [Record] {
        guard let key = keys.key(ofParent: parent) else { return [] }
        // After the fetch, several threads may call this.
        guard fetch.isDecoding else { return try (rows?[key] ?? []).map { try Record(row: $0) } }
        if let decoded = decoded[ObjectIdentifier(type)] {
            let decoded = unsafeDowncast(decoded, to: Decoded<Record>.self)
            if let list = decoded.lists[key] { return list }
            let list = try (rows?[key] ?? []).map { try Record(row: $0) }
            decoded.lists[key] = list
            return list
        }
        if rows == nil, let lists = try decodeAll(type) {
            decoded[ObjectIdentifier(type)] = Decoded<Record>(lists)
            return lists[key]
        }
        try fetchRows()
        decoded[ObjectIdentifier(type)] = Decoded<Record>(Array(repeating: nil, count: keys.count))
        return try records(type, of: parent)
    }

    /// Decodes each row from the statement; nil if the rows must be read before their own prefetches.
    private func decodeAll<Record: FetchableRecord>(_ type: Record.Type) throws -> [[Record]]? {
        if prefetch.path.last.query.hasPrefetches { return nil }
        var lists = Array(repeating: [Record](), count: keys.count)
        for chunk in try query.chunks(of: keys) {
            let plan = try query.plan(chunk, fetch)
            let columns = try query.keyColumns(in: plan)
            var finder = keys.finder()
            // Rows of one key are mostly adjacent.
            var run: [Record] = []
            var runKey = -1
            try query.rows(of: plan).forEachRow { row in
                let record = try Record.decoded(from: row)
                let key = finder.onlyKey(of: row.unadapted, columns)
                if key != runKey || key < 0 {
                    if runKey >= 0 { swap(&lists[runKey], &run) }
                    runKey = key
                    if key >= 0 {
                        swap(&lists[key], &run)
                    } else {
                        for key in finder.keys(of: row.unadapted, columns) { lists[key].append(record) }
                        return
                    }
                }
                run.append(record)
            }
            if runKey >= 0 { swap(&lists[runKey], &run) }
        }
        return lists
    }
}

extension SelectQuery {
    /// Whether the query has prefetches, for its rows or their scopes.
    var hasPrefetches: Bool {
        guard hasClauses else { return false }
        let clauses = clauses
        return !clauses.prefetches.isEmpty || clauses.joins.contains { $0.query.hasPrefetches }
    }
}
