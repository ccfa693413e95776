import QuarryCore

extension Row {
    /// The rows that `including(all:)` has prefetched, by the keys of associations.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, Team.including(all: Team.players))!
    /// row                             // [id:1 name:"Reds"]
    /// row.prefetchedRows["players"]   // [[id:1 name:"Arthur" teamId:1 grdb_teamId:1], …]
    /// ```
    public var prefetchedRows: PrefetchedRowsView { PrefetchedRowsView(row: self) }

    /// The prefetched rows of a row, by name.
    public struct PrefetchedRowsView {
        fileprivate let row: Row

        /// Whether the row and its scopes have no list.
        public var isEmpty: Bool { keys.isEmpty }

        /// The names of the lists of the row, its scopes, their scopes, and so on.
        public var keys: Set<String> {
            var keys = Set(row.lists?.source.keys ?? [])
            for (_, scope) in row.scopes { keys.formUnion(scope.prefetchedRows.keys) }
            return keys
        }

        /// The list with that name, or nil if it doesn't exist: the row's own list, or the nearest scope's.
        public subscript(_ key: String) -> [Row]? {
            var rows = [row]
            while !rows.isEmpty {
                for row in rows {
                    if let lists = row.lists, lists.source.keys.contains(key) {
                        return lists.source.rows(key, of: lists.index)
                    }
                }
                rows = rows.flatMap { $0.scopes.map(\.row) }
            }
            return nil
        }
    }
}
