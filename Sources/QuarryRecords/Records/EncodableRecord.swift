public import QuarryCore

/// A type whose values can be encoded as columns.
///
/// ```swift
/// struct Player: EncodableRecord {
///     var id: Int64
///     var name: String
///     func encode(to container: inout PersistenceContainer) {
///         container["id"] = id
///         container["name"] = name
///     }
/// }
/// ```
///
/// An `Encodable` type needs no `encode(to:)`: each property is stored in the column with its name.
public protocol EncodableRecord: RecordEncodingStrategies {
    /// Sets the columns.
    ///
    /// This method may be called more than once for a record. It should set the same columns in the same order for all
    /// records of its type: then the values go straight into a statement.
    ///
    /// - throws: any error: the method that encodes the record throws it.
    func encode(to container: inout PersistenceContainer) throws
}

extension EncodableRecord {
    /// The columns and their values.
    ///
    /// ```swift
    /// try player.databaseDictionary // ["id": 1, "name": "Arthur"]
    /// ```
    ///
    /// - throws: the error of `encode(to:)`.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws {
            let recorded = try EncodingTarget(recording: self)
            return Dictionary(zip(recorded.names, recorded.values), uniquingKeysWith: { $1 })
        }
    }

    /// Whether both records have the same columns with the same values.
    ///
    /// ```swift
    /// let old = Player(id: 1, name: "Arthur", score: 10)
    /// let new = Player(id: 1, name: "Arthur", score: 20)
    /// new.databaseEquals(old) // false
    /// ```
    ///
    /// Records that can't be encoded are equal to no record.
    public func databaseEquals(_ record: Self) -> Bool {
        guard let changes = try? databaseChanges(from: record), changes.isEmpty else { return false }
        guard let others = try? record.databaseChanges(from: self) else { return false }
        return others.isEmpty
    }

    /// The columns whose values differ from another record's, with the other record's values.
    ///
    /// ```swift
    /// let old = Player(id: 1, name: "Arthur", score: 10)
    /// let new = Player(id: 1, name: "Arthur", score: 20)
    /// try new.databaseChanges(from: old) // ["score": 10]
    /// ```
    ///
    /// A column that the other record doesn't have counts as NULL there.
    ///
    /// - throws: the error of `encode(to:)`.
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        let new = try EncodingTarget(recording: self)
        let old = try EncodingTarget(recording: record)
        return Dictionary(new.changes(from: old), uniquingKeysWith: { $1 })
    }

    /// Changes the record, and returns the columns whose values have changed, with their old values.
    ///
    /// ```swift
    /// var player = Player(id: 1, name: "Arthur", score: 10)
    /// try player.databaseChanges { $0.score = 20 } // ["score": 10]
    /// ```
    ///
    /// - throws: the error of the closure or of `encode(to:)`.
    public mutating func databaseChanges(modify: (inout Self) throws -> Void) throws -> [String: DatabaseValue] {
        let old = try EncodingTarget(recording: self)
        try modify(&self)
        let new = try EncodingTarget(recording: self)
        return Dictionary(new.changes(from: old), uniquingKeysWith: { $1 })
    }
}

extension EncodingTarget {
    /// The columns whose values differ from an older record's, with the older values.
    func changes(from old: EncodingTarget) -> [(String, DatabaseValue)] {
        zip(names, values).compactMap { name, value in
            let place = old.names.firstIndex { $0.isSameName(as: name) }
            let oldValue = place.map { old.values[$0] } ?? .null
            return value == oldValue ? nil : (name, oldValue)
        }
    }
}
