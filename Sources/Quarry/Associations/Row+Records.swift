public import QuarryCore

// Records in a row's scopes, and lists of those that were fetched besides.

extension Row {
    // MARK: - Records of scopes

    /// A record that the scope of a joined association is decoded as.
    ///
    /// ```swift
    /// struct PlayerInfo: FetchableRecord {
    ///     var player: Player
    ///     var team: Team
    ///
    ///     init(row: Row) throws {
    ///         player = try Player(row: row)
    ///         team = try row.decode(forKey: "team")
    ///     }
    /// }
    /// ```
    ///
    /// - parameter scope: the key of the association: the nearest scope of that name.
    /// - throws: `RowDecodingError` if there is no such scope; what the record throws.
    public func decode<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws
        -> Record
    {
        guard let row = nearestScope(scope) else {
            throw decodingError("scope not found: \(String(reflecting: scope))")
        }
        return try Record(row: row)
    }

    /// A record that the scope of a joined association is decoded as; nil if there is no such scope, or its columns are
    /// all NULL.
    public func decodeIfPresent<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record? {
        guard let row = nearestScope(scope), row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }

    /// A record that the scope of a joined association is decoded as. The process ends if it can't be had:
    /// `decode(_:forKey:)` throws.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        orTrap { try decode(Record.self, forKey: scope) }
    }

    /// A record that the scope of a joined association is decoded as; nil if there is no such scope, or its columns are
    /// all NULL.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        orTrap { try decodeIfPresent(Record.self, forKey: scope) }
    }

    /// The nearest scope of that name.
    func nearestScope(_ name: String) -> Row? { scopes[name] ?? scopesTree[name] }

    // MARK: - Lists

    /// The records that `including(all:)` has fetched besides.
    ///
    /// ```swift
    /// struct TeamInfo: FetchableRecord {
    ///     var team: Team
    ///     var players: [Player]
    ///
    ///     init(row: Row) throws {
    ///         team = try Team(row: row)
    ///         players = try row.decode(forKey: "players")
    ///     }
    /// }
    /// let request = Team.including(all: Team.players).asRequest(of: TeamInfo.self)
    /// ```
    ///
    /// - parameter key: the key of the association.
    /// - throws: `RowDecodingError` if there is no such list; what the records throw; `DatabaseError`.
    public func decode<Records: RangeReplaceableCollection>(
        _ type: Records.Type = Records.self, forKey key: String
    ) throws -> Records where Records.Element: FetchableRecord {
        let records = try prefetchedRecords(Records.Element.self, key)
        // An array is given out as it is.
        return records as? Records ?? Records(records)
    }

    /// The set of records that `including(all:)` has fetched besides.
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        Set(try prefetchedRecords(Record.self, key))
    }

    /// The records that `including(all:)` has fetched besides. The process ends if there is no such list, or a record
    /// can't be had: `decode(_:forKey:)` throws.
    ///
    /// ```swift
    /// players = row["players"]   // [Player]
    /// ```
    ///
    /// Of an error while a whole result is fetched, `fetchAll` and `fetchSet` throw it.
    public subscript<Records: RangeReplaceableCollection>(_ key: String) -> Records
    where Records.Element: FetchableRecord {
        do {
            return try decode(Records.self, forKey: key)
        } catch {
            if noted(error, key) { return Records() }
            trap("\(error)")
        }
    }

    /// The set of records that `including(all:)` has fetched besides.
    public subscript<Record: FetchableRecord & Hashable>(_ key: String) -> Set<Record> {
        do {
            return try decode(Set<Record>.self, forKey: key)
        } catch {
            if noted(error, key) { return [] }
            trap("\(error)")
        }
    }

    private func prefetchedRecords<Record: FetchableRecord>(_ type: Record.Type, _ key: String) throws -> [Record] {
        guard let (list, parent) = prefetchedList(key) else {
            throw decodingError("prefetched rows not found: \(String(reflecting: key))")
        }
        return try list.records(type, of: parent)
    }

    /// Keeps an error for the fetch, if there is one that would throw it.
    private func noted(_ error: any Error, _ key: String) -> Bool { prefetchedList(key)?.list.note(error) ?? false }

    private func orTrap<T>(_ body: () throws -> T) -> T {
        do {
            return try body()
        } catch {
            trap("\(error)")
        }
    }

    /// The list of that name: the row's own, or that of the nearest scope; and the number of the row in it.
    func prefetchedList(_ key: String) -> (list: PrefetchedRowsOfKey, parent: Int)? {
        if let own = ownPrefetchedList(key) { return own }
        var rows = scopes.map(\.row)
        while !rows.isEmpty {
            for row in rows {
                if let list = row.ownPrefetchedList(key) { return list }
            }
            rows = rows.flatMap { $0.scopes.map(\.row) }
        }
        return nil
    }

    private func ownPrefetchedList(_ key: String) -> (list: PrefetchedRowsOfKey, parent: Int)? {
        guard let prefetch, let scope = prefetch.rows as? PrefetchedScope, let list = scope.list(key) else {
            return nil
        }
        return (list, prefetch.index)
    }
}
