/// The key of a row: its primary key, or its rowid in a table without one.
///
/// ```swift
/// commit.changes.containsChange(in: "player", key: 1)
/// commit.changes.containsChange(in: "country", key: "FR")
/// commit.changes.containsChange(in: "citizenship", key: [1, "FR"])
/// ```
public struct RowKey: Hashable, Sendable {
    private enum Storage: Hashable {
        case integer(Int64)
        case values([DatabaseValue])
    }

    // Most keys are one integer, which needs no array.
    private let storage: Storage

    /// The values of the key's columns, in the order of the primary key.
    public var values: [DatabaseValue] {
        switch storage {
        case .integer(let value): [value.databaseValue]
        case .values(let values): values
        }
    }

    /// A key of one column.
    ///
    /// ```swift
    /// RowKey(player.id)
    /// ```
    public init(_ value: some DatabaseValueConvertible) { self.init([value.databaseValue]) }

    /// A key of several columns, in the order of the primary key.
    ///
    /// ```swift
    /// RowKey([1.databaseValue, "FR".databaseValue])
    /// ```
    public init(_ values: [DatabaseValue]) {
        if values.count == 1, case .int64(let value) = values[0].rawStorage {
            storage = .integer(value)
        } else {
            storage = .values(values)
        }
    }

    init(rowID: Int64) { storage = .integer(rowID) }

    /// A key of one value: without an array, if it is an integer.
    package init(value: DatabaseValue) {
        if case .int64(let integer) = value.rawStorage {
            storage = .integer(integer)
        } else {
            storage = .values([value])
        }
    }
}

extension RowKey: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    public init(integerLiteral value: Int64) { storage = .integer(value) }

    public init(stringLiteral value: String) { storage = .values([value.databaseValue]) }

    public init(arrayLiteral elements: any DatabaseValueConvertible...) {
        self.init(elements.map(\.databaseValue))
    }
}

extension RowKey: CustomStringConvertible {
    /// `1`, `"FR"`, `[1, "FR"]`
    public var description: String {
        switch storage {
        case .integer(let value): String(value)
        case .values(let values): values.count == 1 ? values[0].description : "\(values)"
        }
    }
}

/// The change of a row, from before a commit to after it.
public enum RowChange: Hashable, Sendable {
    /// The row is new.
    case inserted
    /// The row had the same key before.
    ///
    /// - parameter columns: the columns that statements have set, in lower case; nil if they aren't known, as for a row
    ///   that `REPLACE` has deleted and inserted.
    case updated(columns: Set<String>?)
    /// The row is gone.
    case deleted

    /// The change that two changes make together; nil for a row that has come and gone.
    package func followed(by next: RowChange) -> RowChange? {
        switch (self, next) {
        case (.inserted, .deleted): nil
        case (.inserted, _): .inserted
        case (.deleted, .inserted): .updated(columns: nil)
        case (.updated(let columns?), .updated(let others?)): .updated(columns: columns.union(others))
        case (.updated, .updated): .updated(columns: nil)
        case (_, .deleted), (.deleted, _), (_, .inserted): next
        }
    }
}

/// The changed keys of a table.
package struct KeyChanges: Sendable, Equatable {
    /// The changes by key; nil if not all are known.
    package private(set) var changes: [RowKey: RowChange]? = [:]

    /// The number of changed rows of a table above which the keys aren't kept.
    package static let maximumCount = 10_000

    package init() {}

    /// Changes that aren't known.
    package static let unknown: KeyChanges = {
        var changes = KeyChanges()
        changes.changes = nil
        return changes
    }()

    package mutating func note(_ change: RowChange, of key: RowKey) {
        guard changes != nil else { return }
        guard let previous = changes![key] else {
            changes![key] = change
            if changes!.count > Self.maximumCount { changes = nil }
            return
        }
        changes![key] = previous.followed(by: change)
    }

    /// Adds later changes.
    package mutating func add(_ later: KeyChanges) {
        guard let others = later.changes else { return changes = nil }
        if changes?.isEmpty ?? false { return changes = others }
        for (key, change) in others { note(change, of: key) }
    }
}

/// The tables whose changed keys are asked for.
package enum KeyNeeds: Sendable, Equatable {
    case none
    /// All tables of the database.
    case all
}

/// The columns that make up the keys of a table's rows, and those whose new values SQLite doesn't tell as they are
/// read.
struct KeyColumns: Equatable {
    /// The numbers of the columns of the primary key, as the preupdate hook counts them; nil for the rowid.
    let numbers: [Int]?
    /// The numbers of all columns of affinity REAL.
    let reals: [Int]
}

/// The program's remarks about a transaction.
package struct CommitNote: Sendable {
    package var origin: String?
    package var userInfo: (any Sendable)?

    /// The remarks of each write that shares the transaction; none if it is that of one write.
    package private(set) var parts: [CommitNote] = []

    package init() {}

    /// The remarks about a transaction that writes share.
    ///
    /// - parameter last: the remarks of the last write. The others have made none: no write joins one that has.
    init(ofParts count: Int, last: CommitNote?) {
        parts = Array(repeating: CommitNote(), count: count)
        if let last { parts[count - 1] = last }
    }
}
