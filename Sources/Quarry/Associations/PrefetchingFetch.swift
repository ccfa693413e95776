import QuarryCore

/// One fetch of rows, with what is fetched besides for them.
final class PrefetchingFetch {
    let database: Database

    /// Whether all rows are decoded before the fetch is over: then what belongs to them is fetched when it is asked
    /// for, as the type that is asked for, and so each row is decoded once, from the statement.
    ///
    /// It is set while the fetch goes on, by its thread alone.
    private(set) var isDecoding = false

    private var failure: (any Error)?

    init(_ database: Database) { self.database = database }

    func begin() { isDecoding = true }

    func end() { isDecoding = false }

    /// Keeps the first error where it can't be thrown.
    ///
    /// - returns: false if the fetch is over, and nobody would hear of it.
    func note(_ error: any Error) -> Bool {
        guard isDecoding else { return false }
        if failure == nil { failure = error }
        return true
    }

    func throwFailure() throws {
        if let failure = failure.take() { throw failure }
    }
}

/// What the rows of a request get besides.
final class RequestPrefetch: RowSupplement {
    let takesOneRow: Bool
    private let fetch: PrefetchingFetch
    private var scope: PrefetchedScope?

    init(_ scope: PrefetchedScope, _ fetch: PrefetchingFetch, singleRow: Bool) {
        self.scope = scope
        self.fetch = fetch
        takesOneRow = singleRow
    }

    deinit { fetch.end() }

    /// What is fetched, for those who read the rows themselves.
    var prefetches: PrefetchedScope? { scope }

    func supply(_ rows: [Row], isDecodedAtOnce: Bool) throws {
        guard let scope else { return }
        try scope.supply(rows)
        if isDecodedAtOnce { fetch.begin() } else { try scope.fetchRows() }
    }

    func check() throws { try fetch.throwFailure() }

    func finish() throws {
        try fetch.throwFailure()
        fetch.end()
        // Somebody may have kept a row: what belongs to it can't be fetched any more when the access is over.
        if isKnownUniquelyReferenced(&scope) { try scope?.finish() } else { try scope?.fetchRows() }
        scope = nil
    }
}

/// What belongs to a row of a request, or to a scope of it.
final class PrefetchedScope: PrefetchedRows {
    private let prefetches: [PrefetchedRowsOfKey]
    private let scopes: [String: PrefetchedScope]

    init(_ prefetches: [PrefetchedRowsOfKey], _ scopes: [String: PrefetchedScope]) {
        self.prefetches = prefetches
        self.scopes = scopes
    }

    /// The lists that belong to the row itself.
    var lists: [PrefetchedRowsOfKey] { prefetches }

    /// The scopes with lists of their own, by their names.
    var namedScopes: [(name: String, scope: PrefetchedScope)] {
        scopes.sorted { $0.key < $1.key }.map { (name: $0.key, scope: $0.value) }
    }

    var prefetchedKeys: [String] { prefetches.map(\.key) }

    func prefetchedRows(_ key: String, of row: Int) -> [Row] { list(key)?.rows(of: row) ?? [] }

    func prefetchedRows(inScope name: String) -> (any PrefetchedRows)? { scopes[name] }

    func list(_ key: String) -> PrefetchedRowsOfKey? { prefetches.first { $0.key == key } }

    /// Takes the keys of rows, which belong to this scope from then on.
    func supply(_ rows: [Row]) throws {
        findParents(rows)
        for (index, row) in rows.enumerated() { row.prefetch = (self, index) }
    }

    /// Takes the keys of rows.
    func findParents(_ rows: [Row]) {
        for prefetch in prefetches { prefetch.findParents(rows) }
        for scope in scopes.values { scope.findParents(rows) }
    }

    /// The rows are gone.
    func finish() throws {
        for prefetch in prefetches { try prefetch.finish() }
        for scope in scopes.values { try scope.finish() }
    }

    /// Fetches all lists as rows, where that hasn't been done.
    func fetchRows() throws {
        for prefetch in prefetches { try prefetch.fetchRows() }
        for (_, scope) in scopes.sorted(by: { $0.key < $1.key }) { try scope.fetchRows() }
    }
}
