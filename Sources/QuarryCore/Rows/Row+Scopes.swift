extension Row {
    /// The scopes that the row's adapter has made.
    ///
    /// ```swift
    /// let adapter = RangeRowAdapter(0..<2).addingScopes(["team": RangeRowAdapter(2..<4)])
    /// let row = try Row.fetchOne(db, sql: sql, adapter: adapter)!
    /// let team = row.scopes["team"]
    /// for (name, scopedRow) in row.scopes { print(name, scopedRow) }
    /// ```
    ///
    /// A row without an adapter has no scopes.
    public var scopes: ScopesView { ScopesView(source: adaptedSource) }

    /// The scopes of the row, their scopes, and so on.
    ///
    /// ```swift
    /// row.scopesTree["country"]   // the same as row.scopes["team"]?.scopes["country"], if there is no nearer one
    /// ```
    public var scopesTree: ScopesTreeView { ScopesTreeView(row: self) }

    /// The row with the same columns, but without scopes and lists of rows.
    public var unscoped: Row {
        guard let adaptedSource, !adaptedSource.adaptation.scopes.isEmpty || adaptedSource.lists != nil else {
            return self
        }
        return Row(
            adapted: AdaptedRowSource(base: adaptedSource.base, adaptation: adaptedSource.adaptation.withoutScopes))
    }

    /// The row without any adapter: with all the columns of its statement.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b", adapter: SuffixRowAdapter(fromIndex: 1))!
    /// row             // [b:2]
    /// row.unadapted   // [a:1 b:2]
    /// ```
    public var unadapted: Row { adaptedSource?.base ?? self }

    /// The scopes of a row: pairs of a name and a row, in the order of the names.
    public struct ScopesView: RandomAccessCollection {
        fileprivate let source: AdaptedRowSource?

        /// The names of the scopes, in order.
        public var names: [String] { source?.adaptation.scopes.map(\.name) ?? [] }

        /// The row of a scope, or nil if no scope has that name.
        ///
        /// ```swift
        /// if let team = row.scopes["team"] { print(team["name"] as String) }
        /// ```
        public subscript(_ name: String) -> Row? {
            guard let source, let index = source.adaptation.scopes.firstIndex(where: { $0.name == name }) else {
                return nil
            }
            return source.scope(at: index)
        }

        /// 0
        public var startIndex: Int { 0 }

        /// The number of scopes.
        public var endIndex: Int { source?.adaptation.scopes.count ?? 0 }

        /// The name and the row of a scope.
        public subscript(position: Int) -> (name: String, row: Row) {
            guard let source, indices ~= position else { trap("scope \(position) is out of range \(indices)") }
            return (source.adaptation.scopes[position].name, source.scope(at: position))
        }
    }

    /// The scopes of a row, their scopes, and so on.
    public struct ScopesTreeView {
        fileprivate let row: Row

        /// The names of all scopes.
        public var names: Set<String> {
            var names: Set<String> = []
            for (name, scope) in row.scopes {
                names.insert(name)
                names.formUnion(scope.scopesTree.names)
            }
            return names
        }

        /// The row of the nearest scope with that name, or nil.
        ///
        /// The search is breadth first, at one depth in the order of the names.
        public subscript(_ name: String) -> Row? {
            var rows = [row]
            while !rows.isEmpty {
                for row in rows {
                    if let scope = row.scopes[name] { return scope }
                }
                rows = rows.flatMap { $0.scopes.map(\.row) }
            }
            return nil
        }
    }
}

extension Row: CustomDebugStringConvertible {
    /// As `description`; a row with an adapter shows its base row and its scopes too.
    ///
    /// ```text
    /// ▿ [id:1 name:"Arthur"]
    ///   unadapted: [id:1 name:"Arthur" id:2 name:"Reds"]
    ///   - team: [id:2 name:"Reds"]
    ///   + awards: 2 rows
    /// ```
    public var debugDescription: String {
        guard let adaptedSource else { return description }
        let parts = scopesDescription(indentation: "  ")
        let base = adaptedSource.base
        // An adapter that only carries lists of rows shows its base row unchanged.
        let isSame = scopes.isEmpty && base.count == count && base.elementsEqual(self) { $0 == $1 }
        if isSame { return parts.isEmpty ? description : "▿ \(self)" + parts }
        return "▿ \(self)\n  unadapted: \(base)" + parts
    }

    private func scopesDescription(indentation: String) -> String {
        let lists = ownLists.map { key, rows in
            "\n\(indentation)+ \(key): \(rows.count) row\(rows.count < 2 ? "" : "s")"
        }
        let scopes = scopes.map { name, row in
            "\n\(indentation)- \(name): \(row)" + row.scopesDescription(indentation: indentation + "  ")
        }
        return (scopes + lists).joined()
    }
}
