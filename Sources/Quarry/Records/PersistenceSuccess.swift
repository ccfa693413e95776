import QuarryCore

/// What an insert has done.
///
/// ```swift
/// struct Player: MutablePersistableRecord, Encodable {
///     var id: Int64?
///     var name: String
///     mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
/// }
/// ```
public struct InsertionSuccess {
    /// The rowid of the row: <https://www.sqlite.org/c3ref/last_insert_rowid.html>.
    ///
    /// 0 where there is none, in tables WITHOUT ROWID and in views, and for an upsert into a table that has columns of
    /// all the rowid's names.
    public var rowID: Int64

    /// The column that has the rowid: that of an `INTEGER PRIMARY KEY`. Nil if there is none.
    public var rowIDColumn: String?

    /// Whether there is a new row.
    ///
    /// A conflict that is ignored inserts nothing, and so may a trigger. Then `rowID` is that of an earlier insert, and
    /// `didInsert` isn't called.
    public let isInserted: Bool

    let record: PersistedRecord

    /// The columns of the record, encoded when they are asked for, with the rowid of the new row.
    ///
    /// ```swift
    /// mutating func didInsert(_ inserted: InsertionSuccess) {
    ///     print(inserted.persistenceContainer["name"] ?? "no name")
    /// }
    /// ```
    public var persistenceContainer: PersistenceContainer {
        let container = record.container
        if isInserted, let rowIDColumn { container.target.set(rowID, forColumn: rowIDColumn) }
        return container
    }
}

/// What an update or a save has done.
public struct PersistenceSuccess {
    private enum Record {
        case inserted(InsertionSuccess)
        case updated(PersistedRecord)
    }

    private let record: Record

    init(_ inserted: InsertionSuccess) { record = .inserted(inserted) }

    init(_ updated: PersistedRecord) { record = .updated(updated) }

    /// What is known of the callbacks of the record's type.
    var callbacks: DefaultCallbacks {
        switch record {
        case .inserted(let inserted): inserted.record.callbacks
        case .updated(let record): record.callbacks
        }
    }

    /// The columns of the record, encoded when they are asked for.
    public var persistenceContainer: PersistenceContainer {
        switch record {
        case .inserted(let inserted): inserted.persistenceContainer
        case .updated(let record): record.container
        }
    }
}

/// A record as it was persisted.
struct PersistedRecord {
    let encode: () throws -> EncodingTarget

    /// What is known of the callbacks of the record's type.
    let callbacks: DefaultCallbacks

    init(_ record: some EncodableRecord, _ callbacks: DefaultCallbacks) {
        self.callbacks = callbacks
        encode = { try EncodingTarget(recording: record) }
    }

    /// The record's columns. It could be encoded a moment ago; if it can't any more, there are none.
    var container: PersistenceContainer { PersistenceContainer((try? encode()) ?? EncodingTarget()) }
}
