import QuarryCore

/// The result of an insert.
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
    /// 0 for tables WITHOUT ROWID, for views, and for an upsert into a table whose columns have all the rowid's names.
    public var rowID: Int64

    /// The column that has the rowid: an `INTEGER PRIMARY KEY`. Nil if there is none.
    public var rowIDColumn: String?

    /// Whether a row was inserted.
    ///
    /// An ignored conflict inserts nothing, and a trigger may prevent the insert. Then `rowID` belongs to an earlier
    /// insert, and `didInsert` isn't called.
    public let isInserted: Bool

    let record: PersistedRecord

    /// The columns of the record, with the rowid of the inserted row. The record is encoded on demand.
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

/// The result of an update or a save.
public struct PersistenceSuccess {
    private enum Record {
        case inserted(InsertionSuccess)
        case updated(PersistedRecord)
    }

    private let record: Record

    init(_ inserted: InsertionSuccess) { record = .inserted(inserted) }

    init(_ updated: PersistedRecord) { record = .updated(updated) }

    /// The known callbacks of the record's type.
    var callbacks: DefaultCallbacks {
        switch record {
        case .inserted(let inserted): inserted.record.callbacks
        case .updated(let record): record.callbacks
        }
    }

    /// The columns of the record, which is encoded on demand.
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

    /// The known callbacks of the record's type.
    let callbacks: DefaultCallbacks

    init(_ record: some EncodableRecord, _ callbacks: DefaultCallbacks) {
        self.callbacks = callbacks
        encode = { try EncodingTarget(recording: record) }
    }

    /// The record's columns. The record has been encoded before; if encoding fails now, there are none.
    var container: PersistenceContainer { PersistenceContainer((try? encode()) ?? EncodingTarget()) }
}
