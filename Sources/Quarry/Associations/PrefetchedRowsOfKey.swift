import QuarryCore
import QuarrySQL

/// The rows of one association for all rows of a request: fetched together, and given out by their keys.
final class PrefetchedRowsOfKey {
    private let prefetch: Prefetch
    private let fetch: PrefetchingFetch

    /// The columns of the association's first table.
    private let columns: [String]

    /// The places of the equal columns in the rows that the list belongs to.
    private let parentColumns: [Int]

    private var keys: PrefetchKeys

    /// For each key, its rows; nil until they are fetched.
    private var rows: [[Row]]?

    /// What belongs to the rows.
    private var nested: [PrefetchedScope] = []

    /// For each type, a `Decoded` of it.
    private var decoded: [ObjectIdentifier: AnyObject] = [:]

    var key: String { prefetch.key }

    /// The keys of the tables that lead to the rows, with dots between.
    var pathName: String { (prefetch.path.pivots.map(\.key.plural) + [key]).joined(separator: ".") }

    init(_ prefetch: Prefetch, _ columns: [String], parentColumns: [Int], _ fetch: PrefetchingFetch) {
        self.prefetch = prefetch
        self.columns = columns
        self.parentColumns = parentColumns
        self.fetch = fetch
        keys = PrefetchKeys(width: columns.count)
    }

    /// Keeps an error for the fetch; false if that is over.
    func note(_ error: any Error) -> Bool { fetch.note(error) }

    func findParents(_ rows: [Row]) { for row in rows { keys.addParent(row.unadapted, parentColumns) } }

    // MARK: - Fetching

    private var query: PrefetchQuery { PrefetchQuery(prefetch, columns, fetch.database) }

    /// Fetches the rows, where that hasn't been done, and what belongs to them.
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

    /// Calls a closure with each of the plans that together fetch the rows, and the places of its keys. Where no row
    /// has a key, one plan fetches none.
    func forEachPlan(_ body: (RequestLayout, [Int]) throws -> Void) throws {
        let chunks = try query.chunks(of: keys)
        for chunk in chunks.isEmpty ? [[]] : chunks {
            let plan = try query.plan(chunk, fetch)
            try body(plan, query.keyColumns(in: plan))
        }
    }

    /// Lets the rows go: those that they belong to are gone. What belongs to rows that somebody has kept is fetched.
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

    /// The records of a type, for each key.
    private final class Decoded<Record> {
        var lists: [[Record]?]

        init(_ lists: [[Record]?]) { self.lists = lists }
    }

    /// The rows that belong to one; none if an error is noted for the fetch.
    func rows(of parent: Int) -> [Row] {
        do {
            return try allRows(of: parent)
        } catch {
            _ = fetch.note(error)
            return []
        }
    }

    /// The rows that belong to one.
    ///
    /// - throws: `DatabaseError` if they are fetched for it.
    func allRows(of parent: Int) throws -> [Row] {
        guard let key = keys.key(ofParent: parent) else { return [] }
        if rows == nil, fetch.isDecoding { try fetchRows() }
        return rows?[key] ?? []
    }

    /// The records that belong to a row.
    func records<Record: FetchableRecord>(_ type: Record.Type, of parent: Int) throws -> [Record] {
        guard let key = keys.key(ofParent: parent) else { return [] }
        // When the fetch is over, several threads may ask.
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

    /// Decodes each row from the statement; nil if they must be there before, for what belongs to them.
    private func decodeAll<Record: FetchableRecord>(_ type: Record.Type) throws -> [[Record]]? {
        if prefetch.path.last.query.hasPrefetches { return nil }
        var lists = Array(repeating: [Record](), count: keys.count)
        for chunk in try query.chunks(of: keys) {
            let plan = try query.plan(chunk, fetch)
            let columns = try query.keyColumns(in: plan)
            var finder = keys.finder()
            // Rows of one key mostly come together.
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
    /// Whether anything is fetched besides, for the rows or their scopes.
    var hasPrefetches: Bool {
        guard hasClauses else { return false }
        let clauses = clauses
        return !clauses.prefetches.isEmpty || clauses.joins.contains { $0.query.hasPrefetches }
    }
}
