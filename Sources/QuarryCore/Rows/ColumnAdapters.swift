/// An adapter that shows columns under other names, and no others.
///
/// ```swift
/// let adapter = ColumnMapping(["id": "playerId", "name": "playerName"])
/// let sql = "SELECT teamId, playerId, playerName FROM playerView"
/// try Row.fetchOne(db, sql: sql, adapter: adapter)   // [id:1 name:"Arthur"]
/// ```
///
/// The columns keep the order they have in the row. Their names in the row are found whatever the case; the leftmost
/// wins.
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// An adapter that shows columns under other names.
    ///
    /// - parameter mapping: for each name to show, the name of the column in the row. A fetch throws `SQLITE_MISUSE` if
    ///   the row hasn't got it.
    public init(_ mapping: [String: String]) {
        self.mapping = mapping
    }

    /// The mapped columns.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        let layout = RowLayout(names: columnNames)
        var columns: [RowProjection.Column] = []
        columns.reserveCapacity(mapping.count)
        for (name, baseName) in mapping {
            guard let index = layout.index(of: baseName) else {
                throw DatabaseError.misuse(
                    "Mapping references missing column \(baseName). "
                        + "Valid column names are: \(columnNames.joined(separator: ", ")).")
            }
            columns.append(RowProjection.Column(index: index, name: name))
        }
        columns.sort { ($0.index, $0.name) < ($1.index, $1.name) }
        return RowProjection(columns: columns)
    }
}

/// An adapter that shows all columns, under names that a closure makes of theirs.
///
/// ```swift
/// let adapter = RenameColumnAdapter { "player_" + $0 }
/// try Row.fetchOne(db, sql: "SELECT id, name FROM player", adapter: adapter)   // [player_id:1 player_name:"Arthur"]
/// ```
public struct RenameColumnAdapter: RowAdapter {
    private let transform: @Sendable (String) -> String

    /// An adapter that shows all columns, under names that a closure makes of theirs.
    public init(_ transform: @escaping @Sendable (String) -> String) {
        self.transform = transform
    }

    /// All columns, renamed.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        RowProjection(
            columns: columnNames.enumerated().map { RowProjection.Column(index: $0, name: transform($1)) })
    }
}

/// An adapter that shows the columns of a range.
///
/// ```swift
/// let adapter = RangeRowAdapter(1..<3)
/// try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c, 3 AS d", adapter: adapter)   // [b:1 c:2]
/// ```
///
/// A fetch throws `SQLITE_MISUSE` if the row hasn't got all those columns.
public struct RangeRowAdapter: RowAdapter {
    private let lowerBound: Int
    private let upperBound: Int

    /// An adapter that shows the columns of a half-open range, from 0.
    public init(_ range: CountableRange<Int>) {
        self.init(from: range.lowerBound, to: range.upperBound)
    }

    /// An adapter that shows the columns of a closed range, from 0.
    public init(_ range: CountableClosedRange<Int>) {
        self.init(from: range.lowerBound, to: range.upperBound.addingClamped(1))
    }

    /// Whatever the bounds: the fetch says that they are wrong.
    init(from lowerBound: Int, to upperBound: Int) {
        self.lowerBound = lowerBound
        self.upperBound = upperBound
    }

    /// The columns of the range.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        guard 0 <= lowerBound, lowerBound <= upperBound, upperBound <= columnNames.count else {
            throw DatabaseError.misuse(
                "RangeRowAdapter references columns \(lowerBound)..<\(upperBound) of a row that has "
                    + "\(columnNames.count): \(columnNames.joined(separator: ", ")).")
        }
        return RowProjection(lowerBound..<upperBound, of: columnNames)
    }
}

/// An adapter that shows the columns from an index on.
///
/// ```swift
/// let adapter = SuffixRowAdapter(fromIndex: 2)
/// try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c, 3 AS d", adapter: adapter)   // [c:2 d:3]
/// ```
///
/// A fetch throws `SQLITE_MISUSE` if the row has less columns than are to be left out.
public struct SuffixRowAdapter: RowAdapter {
    private let index: Int

    /// An adapter that shows the columns from an index on.
    ///
    /// - parameter index: the index of the first column to show, from 0.
    public init(fromIndex index: Int) {
        self.index = index
    }

    /// The columns from the index on.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        guard 0...columnNames.count ~= index else {
            throw DatabaseError.misuse(
                "SuffixRowAdapter references columns from \(index) on of a row that has \(columnNames.count): "
                    + "\(columnNames.joined(separator: ", ")).")
        }
        return RowProjection(index..<columnNames.count, of: columnNames)
    }
}

/// An adapter that shows no column: what is wanted is in scopes.
///
/// ```swift
/// let adapter = ScopeAdapter(base: EmptyRowAdapter(), scopes: [
///     "player": RangeRowAdapter(0..<2),
///     "team": SuffixRowAdapter(fromIndex: 2),
/// ])
/// ```
public struct EmptyRowAdapter: RowAdapter {
    /// An adapter that shows no column.
    public init() {}

    /// No column.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        RowProjection(columns: [])
    }
}

/// Adapters that cut rows in parts, from left to right; the last one shows what is left over.
///
/// ```swift
/// let sql = "SELECT player.*, team.* FROM player LEFT JOIN team ON team.id = player.teamId"
/// let adapters = try splittingRowAdapters(columnCounts: [db.columns(in: "player").count])
/// let adapter = ScopeAdapter(["player": adapters[0], "team": adapters[1]])
/// ```
///
/// A fetch throws `SQLITE_MISUSE` if the rows have less columns.
///
/// - parameter columnCounts: the number of columns of each part but the last.
/// - returns: one adapter more than there are numbers.
public func splittingRowAdapters(columnCounts: [Int]) -> [any RowAdapter] {
    var start = 0
    var adapters: [any RowAdapter] = []
    for count in columnCounts {
        let end = start.addingClamped(count)
        adapters.append(RangeRowAdapter(from: start, to: end))
        start = end
    }
    adapters.append(SuffixRowAdapter(fromIndex: start))
    return adapters
}

extension Int {
    /// The sum, or the bound that it passes.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
