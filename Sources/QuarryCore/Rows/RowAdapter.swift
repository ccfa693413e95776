/// Changes what is seen of rows: which columns, under what names, in what scopes.
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
/// Values that aren't rows are made of the leftmost column that is seen:
///
/// ```swift
/// let names = try String.fetchAll(db, sql: "SELECT id, name FROM player", adapter: SuffixRowAdapter(fromIndex: 1))
/// ```
///
/// The adapters are ``ColumnMapping``, ``RenameColumnAdapter``, ``RangeRowAdapter``, ``SuffixRowAdapter``,
/// ``EmptyRowAdapter`` and ``ScopeAdapter``; `splittingRowAdapters(columnCounts:)` cuts rows in parts.
public protocol RowAdapter: Sendable {
    /// The columns and scopes that are seen of rows with those columns.
    ///
    /// It is asked once for an execution of a statement, not for each row.
    ///
    /// - parameter columnNames: the names of the columns of the rows, from left to right, as SQLite gives them.
    /// - throws: what ends the fetch: a `DatabaseError` that names what is missing.
    func projection(of columnNames: [String]) throws -> RowProjection
}

/// What is seen of a row: some of its columns, and scopes, which see other columns of the same row.
public struct RowProjection: Sendable {
    /// A column of the row, and the name under which it is seen.
    public struct Column: Hashable, Sendable {
        /// The index of the column in the row, from 0.
        public var index: Int

        /// The name under which it is seen.
        public var name: String

        /// A column of the row, and the name under which it is seen.
        public init(index: Int, name: String) {
            self.index = index
            self.name = name
        }
    }

    /// The columns that are seen, from left to right.
    public var columns: [Column]

    /// The scopes, by name.
    public var scopes: [String: RowProjection]

    /// Columns and scopes.
    public init(columns: [Column], scopes: [String: RowProjection] = [:]) {
        self.columns = columns
        self.scopes = scopes
    }

    /// The columns of a range, which must be in the row, under their own names.
    init(_ range: Range<Int>, of columnNames: [String]) {
        self.init(columns: range.map { Column(index: $0, name: columnNames[$0]) })
    }
}

/// An adapter over what another makes of a row. The scopes are those of the outer one.
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
