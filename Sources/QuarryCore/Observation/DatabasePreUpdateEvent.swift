/// A change of a row that is about to happen, with the row's values:
/// <https://www.sqlite.org/c3ref/preupdate_count.html>.
///
/// ```swift
/// func databaseWillChange(with event: DatabasePreUpdateEvent) {
///     if event.kind == .update, let old = event.initialDatabaseValue(atIndex: 1) { log("was \(old)") }
/// }
/// ```
public struct DatabasePreUpdateEvent {
    /// The kind of a change.
    public typealias Kind = DatabaseEvent.Kind

    /// The kind of the change; an update for a write to an open blob.
    public let kind: Kind

    /// `main`, `temp`, or the name of an attached database.
    public let databaseName: String

    /// The table.
    public let tableName: String

    /// The row before the change; nil for an insertion. For a table WITHOUT ROWID it has no meaning.
    public let initialRowID: Int64?

    /// The row after the change; nil for a deletion. For a table WITHOUT ROWID it has no meaning.
    public let finalRowID: Int64?

    private let values: Values

    /// The values, which SQLite lends for the length of the callback.
    private final class Values {
        var event: PreupdateEvent?
        private(set) lazy var count = event?.columnCount ?? 0
        private(set) lazy var depth = event?.depth ?? 0
        private(set) lazy var initial: [DatabaseValue]? = read { $0.oldValue($1) }
        private(set) lazy var final: [DatabaseValue]? =
            event?.blobColumn == nil
            ? read { [reals] event, index in
                let value = event.newValue(index)
                return reals.contains(index) ? value?.readFromREAL : value
            } : nil

        private let reals: [Int]

        init(_ event: PreupdateEvent, reals: [Int]) {
            self.event = event
            self.reals = reals
        }

        private func read(_ value: (PreupdateEvent, Int) -> DatabaseValue?) -> [DatabaseValue]? {
            guard let event else { return nil }
            var values: [DatabaseValue] = []
            for index in 0..<event.columnCount {
                guard let value = value(event, index) else { return nil }
                values.append(value)
            }
            return values
        }

        func readAll() { _ = (count, depth, initial, final) }
    }

    private init(_ event: PreupdateEvent, _ table: TableName, _ values: Values) {
        kind = DatabaseEvent.Kind(event.kind)
        databaseName = table.schema
        tableName = table.name
        initialRowID = event.kind == .insert ? nil : event.oldRowID
        finalRowID = event.kind == .delete ? nil : event.newRowID
        self.values = values
    }

    /// Lends an event to `body`. An event that `body` keeps has its values afterwards, too.
    ///
    /// - parameter reals: the numbers of the columns of affinity REAL.
    static func lend(
        _ event: PreupdateEvent, _ table: TableName, reals: [Int], _ body: (DatabasePreUpdateEvent) -> Void
    ) {
        var values = Values(event, reals: reals)
        body(DatabasePreUpdateEvent(event, table, values))
        // The observer keeps the event.
        if !isKnownUniquelyReferenced(&values) { values.readAll() }
        values.event = nil
    }

    /// The number of columns.
    public var count: Int { values.count }

    /// 0 for a change by a statement itself, 1 for one by a trigger, 2 for one by a trigger's trigger, and so on.
    public var depth: Int { values.depth }

    /// The values before the change; nil for an insertion.
    public var initialDatabaseValues: [DatabaseValue]? { values.initial }

    /// The values after the change; nil for a deletion, and for a write to an open blob.
    public var finalDatabaseValues: [DatabaseValue]? { values.final }

    /// A value before the change; nil for an insertion, and for a column that doesn't exist.
    public func initialDatabaseValue(atIndex index: Int) -> DatabaseValue? {
        values.initial.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }

    /// A value after the change; nil for a deletion, and for a column that doesn't exist.
    public func finalDatabaseValue(atIndex index: Int) -> DatabaseValue? {
        values.final.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }

    /// The event itself: events may be kept.
    public func copy() -> DatabasePreUpdateEvent { self }
}

extension DatabaseValue {
    /// The value as SQL reads it from a column of affinity REAL.
    ///
    /// SQLite stores a number without a fraction as an integer there, and its preupdate hook tells the new value of an
    /// inserted row as it is stored: <https://www.sqlite.org/datatype3.html#type_affinity>.
    var readFromREAL: DatabaseValue {
        if case .int64(let value) = rawStorage { Double(value).databaseValue } else { self }
    }
}

@available(*, unavailable)
extension DatabasePreUpdateEvent: Sendable {}

extension DatabaseEvent.Kind {
    init(_ kind: HookSlots.UpdateEvent.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}
