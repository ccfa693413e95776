/// An adapter that adds scopes to rows: named rows, which see other columns of the same row.
///
/// ```swift
/// let adapter = ScopeAdapter([
///     "player": RangeRowAdapter(0..<2),
///     "team": SuffixRowAdapter(fromIndex: 2),
/// ])
/// let row = try Row.fetchOne(db, sql: "SELECT 1 AS id, 'Arthur' AS name, 2 AS id, 'Reds' AS name", adapter: adapter)!
/// row.scopes["team"]   // [id:2 name:"Reds"]
/// ```
///
/// The adapters of the scopes apply to all columns of the row, not only to the visible columns of the base.
public struct ScopeAdapter: RowAdapter {
    /// A reference, so that a statement recognizes the adapter of its previous execution.
    let content: Content

    final class Content: Sendable {
        // nil shows all columns.
        let base: (any RowAdapter)?
        let scopes: [String: any RowAdapter]

        init(base: (any RowAdapter)?, scopes: [String: any RowAdapter]) {
            self.base = base
            self.scopes = scopes
        }
    }

    /// An adapter that shows all columns, and adds scopes.
    public init(_ scopes: [String: any RowAdapter]) {
        content = Content(base: nil, scopes: scopes)
    }

    /// An adapter that shows the columns of another adapter, and adds scopes.
    ///
    /// - parameter scopes: the adapters of the scopes. They replace scopes of the base with the same name.
    public init(base: some RowAdapter, scopes: [String: any RowAdapter]) {
        content = Content(base: base, scopes: scopes)
    }

    /// The columns of the base, and its scopes together with those of this adapter.
    ///
    /// - throws: the error of the base or of a scope's adapter.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        var projection =
            try content.base?.projection(of: columnNames) ?? RowProjection(0..<columnNames.count, of: columnNames)
        for (name, adapter) in content.scopes {
            projection.scopes[name] = try adapter.projection(of: columnNames)
        }
        return projection
    }
}

extension RowAdapter {
    /// This adapter, with added scopes.
    ///
    /// ```swift
    /// let adapter = RangeRowAdapter(0..<2).addingScopes(["team": SuffixRowAdapter(fromIndex: 2)])
    /// ```
    ///
    /// - parameter scopes: the adapters of the scopes. They apply to all columns of the row, and replace scopes of this
    ///   adapter with the same name.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }
}
