/// What has been fetched besides the rows of a request: lists of rows, by name, for each row and its scopes.
package protocol PrefetchedRows: AnyObject {
    /// The names of the lists.
    var prefetchedKeys: [String] { get }

    /// The rows that belong to a row.
    ///
    /// - parameter row: the number of the row in its result.
    func prefetchedRows(_ key: String, of row: Int) -> [Row]

    /// What belongs to a scope of the rows.
    func prefetchedRows(inScope name: String) -> (any PrefetchedRows)?
}

extension Row {
    /// The rows that `including(all:)` has fetched besides, by the keys of associations.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, Team.including(all: Team.players))!
    /// row                             // [id:1 name:"Reds"]
    /// row.prefetchedRows["players"]   // [[id:1 name:"Arthur" teamId:1 grdb_teamId:1], …]
    /// ```
    public var prefetchedRows: PrefetchedRowsView { PrefetchedRowsView(row: self) }

    /// The lists that belong to the row itself, and its number.
    package var prefetch: (rows: any PrefetchedRows, index: Int)? {
        get { adaptedSource?.prefetch }
        set { adaptedSource?.prefetch = newValue }
    }

    /// The rows that were fetched besides a row, by name.
    public struct PrefetchedRowsView {
        fileprivate let row: Row

        /// Whether there is no list at all.
        public var isEmpty: Bool { keys.isEmpty }

        /// The names of the lists of the row and its scopes, the scopes of those, and so on.
        public var keys: Set<String> {
            var keys = Set(row.prefetch?.rows.prefetchedKeys ?? [])
            for (_, scope) in row.scopes { keys.formUnion(scope.prefetchedRows.keys) }
            return keys
        }

        /// The list of that name, or nil if there is none: the row's own, or that of the nearest scope.
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
