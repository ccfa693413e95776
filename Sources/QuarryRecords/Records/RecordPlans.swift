import QuarryCore

/// The plans of a connection's record types.
package final class RecordPlans: ConnectionAttachment {
    package static let keepsStatements = true

    /// The plans of one type, which may serve several tables.
    private final class Entry {
        let type: ObjectIdentifier

        /// Whether the type's table name is derived from the type's name. A derived name never changes, and costs more
        /// to compute than a name that the type states.
        let hasDefaultName: Bool

        let callbacks: DefaultCallbacks

        /// The plan of the type's own table, as far as known.
        let plan: RecordPlan

        /// The plans of other tables, found by the bytes of their names, as in SQLite.
        var others: [RecordPlan] = []

        init(_ type: (some TableRecord).Type) {
            self.type = ObjectIdentifier(type)
            let name = type.databaseTableName
            hasDefaultName = name == type.defaultTableName
            callbacks = DefaultCallbacks(type)
            plan = RecordPlan(table: name, callbacks)
        }

        func plan(_ table: String) -> RecordPlan {
            if plan.table.isSpelled(as: table) { return plan }
            if let other = others.first(where: { $0.table.isSpelled(as: table) }) { return other }
            let other = RecordPlan(table: table, callbacks)
            others.append(other)
            return other
        }
    }

    @exclusivity(unchecked)
    private var latest: Entry?
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// The plan of a record type.
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the connection can't be used.
    package static func plan<Record: TableRecord>(
        _ type: Record.Type, _ table: String?, _ db: Database
    ) throws -> RecordPlan {
        try db.checkAccess()
        let entry = (db.attachment(RecordPlans.self) ?? make(db)).entry(type)
        if let table { return entry.plan(table) }
        if entry.hasDefaultName { return entry.plan }
        return entry.plan(type.databaseTableName)
    }

    @inline(never)
    private static func make(_ db: Database) -> RecordPlans {
        let plans = RecordPlans()
        db.attach(plans)
        return plans
    }

    /// Records that the default implementation of a callback was called.
    static func note(_ callback: DefaultCallbacks.Callbacks, _ type: Any.Type, _ db: Database) {
        guard db.isOwned else { return }
        db.attachment(RecordPlans.self)?.entries[ObjectIdentifier(type)]?.callbacks.note(callback, type)
    }

    /// Forgets the keys of views, because the schema source has changed.
    static func forgetKeysOfViews(_ db: Database) {
        guard let plans = db.attachment(RecordPlans.self) else { return }
        for entry in plans.entries.values {
            entry.plan.forgetKeyOfView()
            for plan in entry.others { plan.forgetKeyOfView() }
        }
    }

    private func entry<Record: TableRecord>(_ type: Record.Type) -> Entry {
        if let latest, latest.type == ObjectIdentifier(type) { return latest }
        return search(type)
    }

    @inline(never)
    private func search<Record: TableRecord>(_ type: Record.Type) -> Entry {
        let entry = entries[ObjectIdentifier(type)] ?? Entry(type)
        entries[ObjectIdentifier(type)] = entry
        latest = entry
        return entry
    }
}

/// The callbacks that a record type leaves to their default implementations, as far as known.
///
/// The first call to a default implementation records that the type doesn't override that callback. From then on the
/// callback is skipped, and its argument isn't built.
final class DefaultCallbacks {
    struct Callbacks: OptionSet {
        let rawValue: UInt16

        static let willSave = Callbacks(rawValue: 1)
        static let aroundSave = Callbacks(rawValue: 2)
        static let didSave = Callbacks(rawValue: 4)
        static let willInsert = Callbacks(rawValue: 8)
        static let aroundInsert = Callbacks(rawValue: 16)
        static let didInsert = Callbacks(rawValue: 32)
        static let willUpdate = Callbacks(rawValue: 64)
        static let aroundUpdate = Callbacks(rawValue: 128)
        static let didUpdate = Callbacks(rawValue: 256)

        static let aroundInserts: Callbacks = [.aroundSave, .aroundInsert]
        static let aroundUpdates: Callbacks = [.aroundSave, .aroundUpdate]
        static let inserts: Callbacks = [
            .willSave, .aroundSave, .didSave, .willInsert, .aroundInsert, .didInsert,
        ]
    }

    /// The record type.
    private let type: ObjectIdentifier

    @exclusivity(unchecked)
    private(set) var known: Callbacks = []

    init(_ type: Any.Type) { self.type = ObjectIdentifier(type) }

    /// Records that a default implementation was called for a type.
    func note(_ callback: Callbacks, _ type: Any.Type) {
        // A class may inherit the implementation of its superclass.
        if ObjectIdentifier(type) == self.type { known.insert(callback) }
    }
}
