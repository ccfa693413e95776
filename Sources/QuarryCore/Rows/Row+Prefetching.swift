/// Prefetched rows of a request: lists of rows, by name, for each row and its scopes.
package protocol PrefetchedRows: AnyObject {
    /// The names of the lists.
    var prefetchedKeys: [String] { get }

    /// The rows that belong to a row.
    ///
    /// - parameter row: the number of the row in its result.
    func prefetchedRows(_ key: String, of row: Int) -> [Row]

    /// The prefetched rows of a scope.
    func prefetchedRows(inScope name: String) -> (any PrefetchedRows)?
}

extension Row {
    /// The rows that `including(all:)` has prefetched, by the keys of associations.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, Team.including(all: Team.players))!
    /// row                             // [id:1 name:"Reds"]
    /// row.prefetchedRows["players"]   // [[id:1 name:"Arthur" teamId:1 grdb_teamId:1], …]
    /// ```
    public var prefetchedRows: PrefetchedRowsView { PrefetchedRowsView(row: self) }

    /// The lists that belong to the row itself, and the row's number.
    package var prefetch: (rows: any PrefetchedRows, index: Int)? {
        get { adaptedSource?.prefetch }
        set { adaptedSource?.prefetch = newValue }
    }

    /// The prefetched rows of a row, by name.
    public struct PrefetchedRowsView {
        fileprivate let row: Row

        /// Whether the row and its scopes have no list.
        public var isEmpty: Bool { keys.isEmpty }

        /// The names of the lists of the row, its scopes, their scopes, and so on.
        public var keys: Set<String> {
            var keys = Set(row.prefetch?.rows.prefetchedKeys ?? [])
            for (_, scope) in row.scopes { keys.formUnion(scope.prefetchedRows.keys) }
            return keys
        }

        /// The list with that name, or nil if it doesn't exist: the row's own list, or the nearest scope's.
        public subscript(_ key: String) -> [Row]? {
            var rows = [row]
            while !rows.isEmpty {
                for row in rows {
                    if let prefetch = row.prefetch, prefetch.rows.prefetchedKeys.contains(key) {
                        return prefetch.rows.prefetchedRows(key, of: prefetch.index)
                    }
                }
                rows = rows.flatMap { $0.scopes.map(\.row) }
            }
            return nil
        }
    }

    /// The row's own lists, in the order of their names.
    var ownPrefetchedRows: [(key: String, rows: [Row])] {
        guard let prefetch else { return [] }
        return prefetch.rows.prefetchedKeys.sorted().map {
            (key: $0, rows: prefetch.rows.prefetchedRows($0, of: prefetch.index))
        }
    }
}
