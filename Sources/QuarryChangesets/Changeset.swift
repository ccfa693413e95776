public import QuarryCore

/// Changes of rows as a value: to send, store, apply to another database, take back or combine.
///
/// ```swift
/// let changeset = try Changeset(bytes: received)
/// for change in changeset { print(change) }
/// try dbQueue.write { db in try db.apply(changeset) }
/// try dbQueue.write { db in try db.apply(changeset.inverted()) }
/// ```
///
/// A changeset has the old and the new values of changed rows, which it finds by their primary keys. It is a sequence
/// of its changes. Applying it to a row that has other values than the old ones is a conflict, which a closure
/// resolves.
///
/// Changesets are SQLite's, byte for byte: <https://www.sqlite.org/sessionintro.html>.
public struct Changeset: ChangesetProtocol {
    public let bytes: [UInt8]

    static let format = ChangesetReader.Format.changeset

    /// An empty changeset.
    public init() { bytes = [] }

    public init(bytes: [UInt8]) throws {
        try ChangesetReader.check(bytes, Self.format)
        self.bytes = bytes
    }

    /// A changeset that SQLite has made.
    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    public func makeIterator() -> ChangesetIterator { ChangesetIterator(ChangesetReader(bytes, Self.format)) }
}

/// A changeset without the old values: shorter, but it can't be inverted, and its conflicts are fewer.
///
/// ```swift
/// let patchset = changeset.patchset
/// try otherQueue.write { db in try db.apply(patchset) }
/// ```
///
/// An update or deletion of a row that has other values than it had isn't a conflict. See
/// <https://www.sqlite.org/sessionintro.html#changesets_and_patchsets>.
public struct Patchset: ChangesetProtocol {
    public let bytes: [UInt8]

    static let format = ChangesetReader.Format.patchset

    /// An empty patchset.
    public init() { bytes = [] }

    public init(bytes: [UInt8]) throws {
        try ChangesetReader.check(bytes, Self.format)
        self.bytes = bytes
    }

    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    public func makeIterator() -> ChangesetIterator { ChangesetIterator(ChangesetReader(bytes, Self.format)) }
}

/// A changeset or a patchset.
public protocol ChangesetProtocol: Hashable, Sendable, Sequence where Iterator == ChangesetIterator {
    /// The bytes, in SQLite's format.
    var bytes: [UInt8] { get }

    /// Checks bytes that were stored or received.
    ///
    /// ```swift
    /// let changeset = try Changeset(bytes: received)
    /// ```
    ///
    /// - throws: `SQLITE_CORRUPT` for bytes that are no changeset, or no patchset; `SQLITE_TOOBIG` for more than 2 GiB.
    init(bytes: [UInt8]) throws

    /// Both changesets in one, with one change for each row.
    ///
    /// ```swift
    /// let both = try monday.concatenated(with: tuesday)
    /// ```
    ///
    /// An insertion and a later deletion of a row cancel each other.
    ///
    /// - parameter next: the later changes.
    /// - throws: `DatabaseError`: `SQLITE_SCHEMA` if a table has other columns or another primary key in the second;
    ///   `SQLITE_NOMEM`; an error that says so if this build of SQLite has no session extension.
    func concatenated(with next: Self) throws -> Self
}

extension ChangesetProtocol {
    /// Whether it has no changes.
    ///
    /// ```swift
    /// if !changeset.isEmpty { send(changeset.bytes) }
    /// ```
    public var isEmpty: Bool { !contains { _ in true } }

    /// Both in one: see `concatenated(with:)`.
    public static func + (first: Self, second: Self) throws -> Self { try first.concatenated(with: second) }
}

/// Reads the changes of a changeset or patchset, in their order: table by table, not in the order in which they were
/// made.
public struct ChangesetIterator: IteratorProtocol {
    private var reader: ChangesetReader

    init(_ reader: ChangesetReader) { self.reader = reader }

    public mutating func next() -> Changeset.Change? {
        // The bytes were checked when the changeset was made.
        try? reader.next()
    }
}

extension Changeset {
    /// The change of one row.
    public struct Change: Hashable, Sendable {
        /// The table.
        public let table: String

        /// Whether the row has come, has gone, or has other values.
        ///
        /// A changed primary key is a deletion and an insertion.
        public let kind: DatabaseEvent.Kind

        /// Whether a trigger or a foreign key's action has made the change.
        public let isIndirect: Bool

        /// For each column its position in the primary key, from 1; 0 for other columns.
        let primaryKeyPositions: [UInt8]

        /// The values before the change, one for each column: nil if the column hasn't changed and isn't in the primary
        /// key. All are nil for an insertion.
        public let oldValues: [DatabaseValue?]

        /// The values after the change, one for each column: nil if the column hasn't changed. All are nil for a
        /// deletion.
        public let newValues: [DatabaseValue?]

        /// The number of columns.
        public var columnCount: Int { primaryKeyPositions.count }

        /// The indexes of the primary key's columns, in the order of the key.
        public var primaryKeyColumns: [Int] {
            primaryKeyPositions.indices.filter { primaryKeyPositions[$0] != 0 }
                .sorted { (primaryKeyPositions[$0], $0) < (primaryKeyPositions[$1], $1) }
        }

        /// The values of the primary key, in the order of the key.
        ///
        /// ```swift
        /// for change in changeset where change.table == "player" { changedPlayers.insert(change.primaryKey) }
        /// ```
        public var primaryKey: [DatabaseValue] {
            let values = kind == .insert ? newValues : oldValues
            return primaryKeyColumns.compactMap { values[$0] }
        }
    }
}

extension Changeset.Change: CustomStringConvertible {
    /// `insert player(1, "Arthur")`, `update player(1, _) to (_, "Barbara")`, `delete player(1, "Arthur")`
    public var description: String {
        func list(_ values: [DatabaseValue?]) -> String {
            "(" + values.map { $0?.description ?? "_" }.joined(separator: ", ") + ")"
        }
        let name = "\(kind) \(table)"
        return switch kind {
        case .insert: name + list(newValues)
        case .delete: name + list(oldValues)
        case .update: "\(name)\(list(oldValues)) to \(list(newValues))"
        }
    }
}

extension Changeset: CustomStringConvertible {
    /// `[insert player(1, "Arthur")]`
    public var description: String { Array(self).description }
}

extension Patchset: CustomStringConvertible {
    /// `[insert player(1, "Arthur")]`
    public var description: String { Array(self).description }
}
