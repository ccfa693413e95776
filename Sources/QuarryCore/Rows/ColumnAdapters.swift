/// An adapter that shows columns under other names, and no others.
///
/// ```swift
/// let adapter = ColumnMapping(["id": "playerId", "name": "playerName"])
/// let sql = "SELECT teamId, playerId, playerName FROM playerView"
/// try Row.fetchOne(db, sql: sql, adapter: adapter)   // [id:1 name:"Arthur"]
/// ```
///
/// The columns keep their order in the row. Their names in the row are looked up ignoring case; the leftmost column
/// wins.
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// An adapter that shows columns under other names.
    ///
    /// - parameter mapping: for each name to show, the name of the column in the row. A fetch throws `SQLITE_MISUSE` if
    ///   the row has no such column.
    public init(_ mapping: [String: String]) {
        self.mapping = mapping
    }

    /// The mapped columns.
    ///
    /// - throws: `SQLITE_MISUSE` if a mapped column is missing.
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

/// An adapter that shows all columns, renamed by a closure.
///
/// ```swift
/// let adapter = RenameColumnAdapter { "player_" + $0 }
/// try Row.fetchOne(db, sql: "SELECT id, name FROM player", adapter: adapter)   // [player_id:1 player_name:"Arthur"]
/// ```
public struct RenameColumnAdapter: RowAdapter {
    private let transform: @Sendable (String) -> String

    /// An adapter that shows all columns, renamed by a closure.
    public init(_ transform: @escaping @Sendable (String) -> String) {
        self.transform = transform
    }

    /// All columns, renamed.
    ///
    /// - throws: nothing.
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
/// A fetch throws `SQLITE_MISUSE` if the row doesn't have all of these columns.
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

    /// Accepts any bounds: the fetch throws if they are wrong.
    init(from lowerBound: Int, to upperBound: Int) {
        self.lowerBound = lowerBound
        self.upperBound = upperBound
    }

    /// The columns of the range.
    ///
    /// - throws: `SQLITE_MISUSE` if the range isn't within the columns.
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
/// A fetch throws `SQLITE_MISUSE` if the row has fewer columns than the adapter leaves out.
public struct SuffixRowAdapter: RowAdapter {
    private let index: Int

    /// An adapter that shows the columns from an index on.
    ///
    /// - parameter index: the index of the first column to show, from 0.
    public init(fromIndex index: Int) {
        self.index = index
    }

    /// The columns from the index on.
    ///
    /// - throws: `SQLITE_MISUSE` if the index is negative, or greater than the number of columns.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        guard 0...columnNames.count ~= index else {
            throw DatabaseError.misuse(
                "SuffixRowAdapter references columns from \(index) on of a row that has \(columnNames.count): "
                    + "\(columnNames.joined(separator: ", ")).")
        }
        return RowProjection(index..<columnNames.count, of: columnNames)
    }
}

/// An adapter that shows no column: scopes show the columns.
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
    ///
    /// - throws: nothing.
    public func projection(of columnNames: [String]) throws -> RowProjection {
        RowProjection(columns: [])
    }
}

/// Adapters that split rows into parts, from left to right; the last one shows the remaining columns.
///
/// ```swift
/// let sql = "SELECT player.*, team.* FROM player LEFT JOIN team ON team.id = player.teamId"
/// let adapters = try splittingRowAdapters(columnCounts: [db.columns(in: "player").count])
/// let adapter = ScopeAdapter(["player": adapters[0], "team": adapters[1]])
/// ```
///
/// A fetch throws `SQLITE_MISUSE` if the rows have fewer columns.
///
/// - parameter columnCounts: the number of columns of each part but the last.
/// - returns: one adapter more than there are column counts.
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
    /// The sum, or the bound that it exceeds.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
