public import QuarryCore
public import QuarrySQL

// Changes of all rows of a request, with the values of a record.

extension QueryInterfaceRequest {
    /// Sets some columns of the rows to the values that a record has for them.
    ///
    /// ```swift
    /// let model = Player(id: nil, name: "", score: 0, teamId: nil)
    /// try Player.filter(Column("teamId") == 1).updateAll(db, set: ["score", "teamId"], from: model)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = 0, "teamId" = NULL WHERE "teamId" = 1
    /// ```
    ///
    /// The record is encoded once, as for an insert: with its strategies for dates, its JSON, its column names. Its
    /// other columns, and its primary key, play no part; no callback is called.
    ///
    /// - parameter columns: the names of the columns, in any case. At least one.
    /// - parameter record: supplies the values.
    /// - parameter conflictResolution: the conflict resolution; nil for the record type's policy.
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` without columns, for a column that the record doesn't encode, and for a request whose
    ///   rows are grouped; `DatabaseError`; the error of encoding the record.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        set columns: some Collection<String>, from record: some EncodableRecord
    ) throws -> Int {
        let assignments = try RecordValues(of: record).assignments(Array(columns), query.sourceName)
        return try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Sets some columns of the rows to the values that a record has for them.
    ///
    /// ```swift
    /// try Player.all().limit(10).updateAll(db, set: [Player.Columns.score], from: model)
    /// ```
    ///
    /// - throws: the errors of `updateAll(_:onConflict:set:from:)` with names.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        set columns: some Collection<any ColumnExpression>, from record: some EncodableRecord
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, set: columns.map(\.name), from: record)
    }

    /// Sets some columns of the rows to values, by position.
    ///
    /// ```swift
    /// try Player.filter(key: 1).updateAll(db, set: ["name", "score"], to: ["Arthur", 10])
    /// ```
    /// ```sql
    /// UPDATE "player" SET "name" = 'Arthur', "score" = 10 WHERE "id" = 1
    /// ```
    ///
    /// - parameter values: a value for each column; nil is NULL.
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` without columns, unless there are as many values as columns, and for a request whose
    ///   rows are grouped; `DatabaseError`.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        set columns: some Collection<String>, to values: [(any DatabaseValueConvertible)?]
    ) throws -> Int {
        let columns = Array(columns)
        guard !columns.isEmpty else { throw RecordValues.noColumns(query.sourceName) }
        guard columns.count == values.count else {
            throw DatabaseError.misuse(
                """
                an update of \(columns.count) columns needs as many values, not \(values.count): \
                \(columns.joined(separator: ", "))
                """)
        }
        let assignments = zip(columns, values).map { column, value in
            Column(column).set(to: value?.databaseValue ?? .null)
        }
        return try updateAll(db, onConflict: conflictResolution, assignments)
    }
}

/// The encoded columns of a record, of which an update takes some.
private struct RecordValues {
    private let target: EncodingTarget

    init(of record: some EncodableRecord) throws { target = try EncodingTarget(recording: record) }

    /// - parameter table: the table, for the error; nil if the request has another source.
    func assignments(_ columns: [String], _ table: String?) throws -> [ColumnAssignment] {
        guard !columns.isEmpty else { throw Self.noColumns(table) }
        return try columns.map { column in
            guard let place = target.names.firstIndex(where: { $0.isSameName(as: column) }) else {
                throw DatabaseError.misuse(
                    """
                    the record has no column \(String(reflecting: column))\(table.map { " of table \($0)" } ?? ""): \
                    it encodes \(target.names.joined(separator: ", "))
                    """)
            }
            return Column(target.names[place]).set(to: target.values[place])
        }
    }

    static func noColumns(_ table: String?) -> DatabaseError {
        DatabaseError.misuse("an update\(table.map { " of table \($0)" } ?? "") needs at least one column to set")
    }
}
