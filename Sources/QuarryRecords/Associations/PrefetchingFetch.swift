import QuarryCore

/// A fetch of rows with their prefetches.
final class PrefetchingFetch {
    let database: Database

    /// Whether all rows are decoded before the fetch ends. Then associated rows are fetched on demand, as the requested
    /// type, so that each row is decoded once, from the statement.
    ///
    /// Only the thread of the fetch sets it, and only during the fetch.
    private(set) var isDecoding = false

    private var failure: (any Error)?

    init(_ database: Database) { self.database = database }

    func begin() { isDecoding = true }

    func end() { isDecoding = false }

    /// Keeps the first error that can't be thrown where it occurs.
    ///
    /// - returns: false if the fetch has ended, so that it can't throw the error.
    func note(_ error: any Error) -> Bool {
        guard isDecoding else { return false }
        if failure == nil { failure = error }
        return true
    }

    func throwFailure() throws {
        if let failure = failure.take() { throw failure }
    }
}

/// The prefetches of a request's rows.
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

    /// The prefetches, for callers that read the rows themselves.
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
        // User code may have kept a row, whose associated rows can't be fetched after the access.
        if isKnownUniquelyReferenced(&scope) { try scope?.finish() } else { try scope?.fetchRows() }
        scope = nil
    }
}

/// The prefetches of a request's rows, or of a scope of them.
final class PrefetchedScope: RowLists {
    private let prefetches: [PrefetchedRowsOfKey]
    private let scopes: [String: PrefetchedScope]

    init(_ prefetches: [PrefetchedRowsOfKey], _ scopes: [String: PrefetchedScope]) {
        self.prefetches = prefetches
        self.scopes = scopes
    }

    /// The lists that belong to the row itself.
    var lists: [PrefetchedRowsOfKey] { prefetches }

    /// The scopes that have their own lists, by name.
    var namedScopes: [(name: String, scope: PrefetchedScope)] {
        scopes.sorted { $0.key < $1.key }.map { (name: $0.key, scope: $0.value) }
    }

    var keys: [String] { prefetches.map(\.key) }

    func rows(_ key: String, of row: Int) -> [Row] { list(key)?.rows(of: row) ?? [] }

    func lists(inScope name: String) -> (any RowLists)? { scopes[name] }

    func list(_ key: String) -> PrefetchedRowsOfKey? { prefetches.first { $0.key == key } }

    /// Takes the keys of rows, which belong to this scope from now on.
    func supply(_ rows: [Row]) throws {
        findParents(rows)
        for (index, row) in rows.enumerated() { row.lists = (self, index) }
    }

    /// Takes the keys of rows.
    func findParents(_ rows: [Row]) {
        for prefetch in prefetches { prefetch.findParents(rows) }
        for scope in scopes.values { scope.findParents(rows) }
    }

    /// Called when the rows have been released.
    func finish() throws {
        for prefetch in prefetches { try prefetch.finish() }
        for scope in scopes.values { try scope.finish() }
    }

    /// Fetches all lists as rows, unless they are fetched.
    func fetchRows() throws {
        for prefetch in prefetches { try prefetch.fetchRows() }
        for (_, scope) in scopes.sorted(by: { $0.key < $1.key }) { try scope.fetchRows() }
    }
}
