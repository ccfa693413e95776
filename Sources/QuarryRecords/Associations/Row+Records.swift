public import QuarryCore

// Records in a row's scopes, and lists of prefetched records.

extension Row {
    // MARK: - Records of scopes

    /// Decodes a record from the scope of a joined association.
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
    /// - parameter scope: the key of the association, which names its nearest scope.
    /// - throws: `RowDecodingError` if there is no such scope; the error of decoding the record.
    public func decode<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws
        -> Record
    {
        guard let row = nearestScope(scope) else {
            throw decodingError("scope not found: \(String(reflecting: scope))")
        }
        return try Record(row: row)
    }

    /// Decodes a record from the scope of a joined association; nil if the scope doesn't exist, or all its columns are
    /// NULL.
    ///
    /// - throws: the error of decoding the record, such as `RowDecodingError`.
    public func decodeIfPresent<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record? {
        guard let row = nearestScope(scope), row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }

    /// A record decoded from the scope of a joined association. Ends the process if it can't be decoded:
    /// `decode(_:forKey:)` throws instead.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        orTrap { try decode(Record.self, forKey: scope) }
    }

    /// A record decoded from the scope of a joined association; nil if the scope doesn't exist, or all its columns are
    /// NULL.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        orTrap { try decodeIfPresent(Record.self, forKey: scope) }
    }

    /// The nearest scope with that name.
    func nearestScope(_ name: String) -> Row? { scopes[name] ?? scopesTree[name] }

    // MARK: - Lists

    /// Decodes the records that `including(all:)` has prefetched.
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
    /// - throws: `RowDecodingError` if there is no such list; the error of decoding a record; `DatabaseError`.
    public func decode<Records: RangeReplaceableCollection>(
        _ type: Records.Type = Records.self, forKey key: String
    ) throws -> Records where Records.Element: FetchableRecord {
        let records = try prefetchedRecords(Records.Element.self, key)
        // An array is returned without a copy.
        return records as? Records ?? Records(records)
    }

    /// Decodes the set of records that `including(all:)` has prefetched.
    ///
    /// - throws: `RowDecodingError` if there is no such list; the error of decoding a record; `DatabaseError`.
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        Set(try prefetchedRecords(Record.self, key))
    }

    /// The records that `including(all:)` has prefetched. Ends the process if there is no such list, or a record can't
    /// be decoded: `decode(_:forKey:)` throws instead.
    ///
    /// ```swift
    /// players = row["players"]   // [Player]
    /// ```
    ///
    /// While `fetchAll` or `fetchSet` fetches a whole result, it throws such an error instead.
    public subscript<Records: RangeReplaceableCollection>(_ key: String) -> Records
    where Records.Element: FetchableRecord {
        do {
            return try decode(Records.self, forKey: key)
        } catch {
            if noted(error, key) { return Records() }
            trap("\(error)")
        }
    }

    /// The set of records that `including(all:)` has prefetched.
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

    /// Keeps an error for the fetch, if there is a fetch that throws it.
    private func noted(_ error: any Error, _ key: String) -> Bool { prefetchedList(key)?.list.note(error) ?? false }

    private func orTrap<T>(_ body: () throws -> T) -> T {
        do {
            return try body()
        } catch {
            trap("\(error)")
        }
    }

    /// The list with that name: the row's own list, or the nearest scope's; and the number of the row in it.
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
        guard let lists, let scope = lists.source as? PrefetchedScope, let list = scope.list(key) else {
            return nil
        }
        return (list, lists.index)
    }
}
