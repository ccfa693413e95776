/// An adapter that changes the visible columns of rows, their names, and their scopes.
///
/// ```swift
/// // [id:1 name:"Arthur" id:2 name:"Reds"], seen as a player with a team
/// let adapter = RangeRowAdapter(0..<2).addingScopes(["team": RangeRowAdapter(2..<4)])
/// let sql = "SELECT player.id, player.name, team.id, team.name FROM player JOIN team ON team.id = player.teamId"
/// let row = try Row.fetchOne(db, sql: sql, adapter: adapter)!
/// row                   // [id:1 name:"Arthur"]
/// row.scopes["team"]!   // [id:2 name:"Reds"]
/// row.unadapted         // [id:1 name:"Arthur" id:2 name:"Reds"]
/// ```
///
/// Values that aren't rows are decoded from the leftmost visible column:
///
/// ```swift
/// let names = try String.fetchAll(db, sql: "SELECT id, name FROM player", adapter: SuffixRowAdapter(fromIndex: 1))
/// ```
///
/// The adapters are ``ColumnMapping``, ``RenameColumnAdapter``, ``RangeRowAdapter``, ``SuffixRowAdapter``,
/// ``EmptyRowAdapter`` and ``ScopeAdapter``; `splittingRowAdapters(columnCounts:)` splits rows into parts.
public protocol RowAdapter: Sendable {
    /// The visible columns and the scopes of rows with the given columns.
    ///
    /// Called once for each execution of a statement, not for each row.
    ///
    /// - parameter columnNames: the names of the rows' columns, from left to right, as SQLite reports them.
    /// - throws: an error that ends the fetch, such as a `DatabaseError` that names a missing column.
    func projection(of columnNames: [String]) throws -> RowProjection
}

/// The visible part of a row: some of its columns, and scopes, which see other columns of the same row.
public struct RowProjection: Sendable {
    /// A column of the row, and its visible name.
    public struct Column: Hashable, Sendable {
        /// The index of the column in the row, from 0.
        public var index: Int

        /// The visible name.
        public var name: String

        /// A column of the row, and its visible name.
        public init(index: Int, name: String) {
            self.index = index
            self.name = name
        }
    }

    /// The visible columns, from left to right.
    public var columns: [Column]

    /// The scopes, by name.
    public var scopes: [String: RowProjection]

    /// A projection with columns and scopes.
    public init(columns: [Column], scopes: [String: RowProjection] = [:]) {
        self.columns = columns
        self.scopes = scopes
    }

    /// The columns of a range, which must be in the row, under their own names.
    init(_ range: Range<Int>, of columnNames: [String]) {
        self.init(columns: range.map { Column(index: $0, name: columnNames[$0]) })
    }
}

/// An adapter that is applied to the result of another one. The scopes are the outer adapter's.
struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let second: any RowAdapter

    func projection(of columnNames: [String]) throws -> RowProjection {
        let inner = try first.projection(of: columnNames).columns
        let outer = try second.projection(of: inner.map(\.name))
        return try Self.compose(inner, outer)
    }

    private static func compose(_ inner: [RowProjection.Column], _ outer: RowProjection) throws -> RowProjection {
        RowProjection(
            columns: try outer.columns.map {
                try $0.check(columnCount: inner.count)
                return RowProjection.Column(index: inner[$0.index].index, name: $0.name)
            },
            scopes: try outer.scopes.mapValues { try compose(inner, $0) })
    }
}

extension RowProjection.Column {
    /// Throws unless the row has this column.
    func check(columnCount: Int) throws(DatabaseError) {
        guard 0..<columnCount ~= index else {
            throw DatabaseError.misuse(
                "A row adapter references column \(index) as \(name), out of a row of \(columnCount) columns.")
        }
    }
}
