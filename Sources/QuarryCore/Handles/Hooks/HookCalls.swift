import CSQLite

/// Installs the hooks of a connection, with its `HookSlots` as context; a nil context removes a hook.
enum HookCalls {
    private static func slots(_ context: UnsafeMutableRawPointer?) -> HookSlots {
        // `HookSlots` lives as long as `Database`, which frees every slot before it is released.
        Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    /// The corresponding C function is `sqlite3_update_hook`.
    static func setUpdateHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_update_hook(connection, nil, nil) }
        sqlite3_update_hook(
            connection,
            { context, kind, schema, table, rowID in
                guard let schema, let table else { return }
                let event = HookSlots.UpdateEvent(
                    kind: .init(kind), schema: schema, table: table, rowID: rowID)
                HookCalls.slots(context).update.forEach { $0(event) }
            }, context)
    }

    /// The corresponding C functions are `sqlite3_preupdate_hook` and `sqlite3_preupdate_blobwrite`.
    static func setPreupdateHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_preupdate_hook(connection, nil, nil) }
        sqlite3_preupdate_hook(
            connection,
            { context, connection, kind, schema, table, oldRowID, newRowID in
                guard let connection, let schema, let table else { return }
                let blobColumn = sqlite3_preupdate_blobwrite(connection)
                let event = PreupdateEvent(
                    connection: connection, kind: blobColumn < 0 ? .init(kind) : .update,
                    blobColumn: blobColumn < 0 ? nil : Int(blobColumn), schema: schema, table: table,
                    oldRowID: oldRowID, newRowID: newRowID)
                HookCalls.slots(context).preupdate.forEach { $0(event) }
            }, context)
    }

    /// The corresponding C function is `sqlite3_commit_hook`.
    static func setCommitHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_commit_hook(connection, nil, nil) }
        sqlite3_commit_hook(
            connection,
            { context in
                guard !HookCalls.slots(context).refusesCommits else { return 1 }
                // Every client is asked, even after one of them has refused.
                var mayCommit = true
                HookCalls.slots(context).commit.forEach { if !$0() { mayCommit = false } }
                return mayCommit ? 0 : 1
            }, context)
    }

    /// The corresponding C function is `sqlite3_rollback_hook`.
    static func setRollbackHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_rollback_hook(connection, nil, nil) }
        sqlite3_rollback_hook(
            connection, { context in HookCalls.slots(context).didRollBack() }, context)
    }

    /// The corresponding C function is `sqlite3_wal_hook`.
    ///
    /// - returns: the number of pages at which SQLite's own hook, which had the slot, would have run a checkpoint; nil
    ///   if Quarry's hook had it.
    static func setWALHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer) -> Int? {
        // SQLite returns the context of the previous hook. Its own hook keeps the number of pages there, and isn't
        // installed for 0: https://www.sqlite.org/c3ref/wal_autocheckpoint.html
        let previous = sqlite3_wal_hook(
            connection,
            { context, connection, schema, pages in
                guard let schema else { return SQLITE_OK }
                let slots = HookCalls.slots(context)
                for entry in slots.wal.entries where entry.isActive { entry.handler(schema, Int(pages)) }
                let isMain = sqlite3_stricmp(schema, "main") == 0
                let limit = slots.automaticCheckpoints.pages
                if isMain ? slots.logDidGrow(toPages: Int(pages)) : limit > 0 && pages >= limit {
                    // As in SQLite's own hook, a checkpoint that finds the database locked is left to the next commit.
                    sqlite3_wal_checkpoint_v2(connection, schema, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            }, context)
        return previous == context ? nil : Int(bitPattern: previous)
    }

    /// Gives the WAL slot back to SQLite's own hook, or frees it. The corresponding C function is
    /// `sqlite3_wal_autocheckpoint`.
    static func setAutomaticCheckpoints(_ connection: SQLiteConnection, _ pages: Int) {
        sqlite3_wal_autocheckpoint(connection, CInt(clamping: pages))
    }

    /// Frees every slot.
    static func clear(_ connection: SQLiteConnection) {
        setUpdateHook(connection, nil)
        if SQLiteLibrary.isBuilt(with: "ENABLE_PREUPDATE_HOOK") { setPreupdateHook(connection, nil) }
        setCommitHook(connection, nil)
        setRollbackHook(connection, nil)
        sqlite3_wal_hook(connection, nil, nil)
        setAuthorizer(connection, nil)
        setProgressHandler(connection, nil)
        setTrace(connection, nil, [])
        setBusyHandler(connection, nil)
    }

    /// The corresponding C function is `sqlite3_set_authorizer`.
    static func setAuthorizer(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_set_authorizer(connection, nil, nil) }
        sqlite3_set_authorizer(
            connection,
            { context, action, first, second, schema, trigger in
                let authorization = HookSlots.Authorization(
                    action: action, first: first, second: second, schema: schema, trigger: trigger)
                var strictest = HookSlots.AuthorizationAnswer.allow
                for entry in HookCalls.slots(context).authorizer.entries where entry.isActive {
                    strictest = max(strictest, entry.handler(authorization))
                }
                return switch strictest {
                case .allow: SQLITE_OK
                case .ignore: SQLITE_IGNORE
                case .deny: SQLITE_DENY
                }
            }, context)
    }

    /// The corresponding C function is `sqlite3_progress_handler`.
    ///
    /// - parameter interval: the steps of SQLite's virtual machine between two calls, at least.
    static func setProgressHandler(
        _ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?, interval: CInt = 1000
    ) {
        guard let context else { return sqlite3_progress_handler(connection, 0, nil, nil) }
        sqlite3_progress_handler(
            connection, interval,
            { context in
                for entry in HookCalls.slots(context).progress.entries where entry.isActive {
                    if !entry.handler() { return 1 }
                }
                return 0
            }, context)
    }

    /// The corresponding C function is `sqlite3_trace_v2`.
    static func setTrace(
        _ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?, _ events: HookSlots.TraceEvents
    ) {
        guard let context else { return _ = sqlite3_trace_v2(connection, 0, nil, nil) }
        sqlite3_trace_v2(
            connection, events.rawValue,
            { kind, context, statement, detail in
                guard let statement else { return 0 }
                let kind = HookSlots.TraceEvents(rawValue: kind)
                let event: HookSlots.TraceEvent
                switch (kind, detail) {
                case (.statements, let detail?):
                    event = .statement(
                        OpaquePointer(statement), text: UnsafePointer(detail.assumingMemoryBound(to: CChar.self)))
                case (.profiles, let detail?):
                    event = .profile(
                        OpaquePointer(statement), nanoseconds: detail.assumingMemoryBound(to: Int64.self).pointee)
                case (.rows, _): event = .row(OpaquePointer(statement))
                default: return 0
                }
                for entry in HookCalls.slots(context).trace.entries
                where entry.isActive && entry.handler.events.contains(kind) {
                    entry.handler.handler(event)
                }
                return 0
            }, context)
    }

    /// The corresponding C function is `sqlite3_busy_handler`.
    static func setBusyHandler(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_busy_handler(connection, nil, nil) }
        sqlite3_busy_handler(
            connection,
            { context, tries in
                for entry in HookCalls.slots(context).busy.entries where entry.isActive {
                    if !entry.handler(Int(tries)) { return 0 }
                }
                return 1
            }, context)
    }
}

extension HookSlots.Authorization {
    /// The operation on a table; nil for other operations.
    var operation: Operation? {
        if action == SQLITE_SELECT { return trigger.map { .nestedQuery($0) } }
        guard let first else { return nil }
        switch action {
        case SQLITE_READ: return second.map { .read(first, column: $0) }
        case SQLITE_INSERT: return .insert(first)
        case SQLITE_DELETE: return .delete(first)
        case SQLITE_UPDATE: return second.map { .update(first, column: $0) }
        case SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_TABLE, SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE,
            SQLITE_CREATE_VIEW, SQLITE_CREATE_TEMP_VIEW, SQLITE_DROP_VIEW, SQLITE_DROP_TEMP_VIEW,
            SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
            return .definition(first, schema: nil)
        case SQLITE_ALTER_TABLE: return second.map { .definition($0, schema: first) }
        default: return nil
        }
    }
}

extension HookSlots.Authorization {
    package typealias Request = HookSlots.AuthorizationRequest

    /// The operation, for a policy.
    package var request: Request {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        switch action {
        case SQLITE_SELECT: return .select
        case SQLITE_RECURSIVE: return .recursion
        case SQLITE_FUNCTION: return .function(text(second))
        case SQLITE_READ:
            return .read(schema: schema.map { String(cString: $0) }, table: text(first), column: text(second))
        case SQLITE_PRAGMA: return .pragma(text(first), hasArgument: second != nil)
        // SQLite also reports it when it declares the columns of a virtual table of its own.
        case SQLITE_UPDATE where text(first) == "sqlite_master":
            return .other("a built-in virtual table, or writing to sqlite_master,")
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: return .other("writing to \(text(first))")
        case SQLITE_ATTACH: return .other("ATTACH")
        case SQLITE_DETACH: return .other("DETACH")
        case SQLITE_TRANSACTION: return .other(text(first))
        case SQLITE_SAVEPOINT: return .other("SAVEPOINT")
        default: return .other("a statement that isn't SELECT")
        }
    }
}

extension HookSlots.UpdateEvent.Kind {
    init(_ operation: CInt) {
        switch operation {
        case SQLITE_INSERT: self = .insert
        case SQLITE_DELETE: self = .delete
        default: self = .update
        }
    }
}

/// A change of a row that is about to happen: <https://www.sqlite.org/c3ref/preupdate_count.html>.
package struct PreupdateEvent {
    let connection: SQLiteConnection
    /// The kind of change; an update for a write to an open blob, which SQLite reports as a deletion.
    package let kind: HookSlots.UpdateEvent.Kind
    /// The column written through an open blob; its new value isn't known.
    package let blobColumn: Int?
    package let schema: UnsafePointer<CChar>
    package let table: UnsafePointer<CChar>
    package let oldRowID: Int64
    package let newRowID: Int64

    /// The number of columns of the row. The corresponding C function is `sqlite3_preupdate_count`.
    package var columnCount: Int { Int(sqlite3_preupdate_count(connection)) }

    /// 0 for a change made by a statement itself, more inside triggers. The corresponding C function is
    /// `sqlite3_preupdate_depth`.
    package var depth: Int { Int(sqlite3_preupdate_depth(connection)) }

    /// A column before the change; nil for an INSERT. The corresponding C function is `sqlite3_preupdate_old`.
    package func oldValue(_ index: Int) -> DatabaseValue? {
        var value: OpaquePointer?
        guard sqlite3_preupdate_old(connection, CInt(index), &value) == SQLITE_OK, let value else { return nil }
        return ValueCalls.value(value)
    }

    /// A column after the change; nil for a DELETE and for a write to an open blob. The corresponding C function is
    /// `sqlite3_preupdate_new`.
    package func newValue(_ index: Int) -> DatabaseValue? {
        var value: OpaquePointer?
        guard sqlite3_preupdate_new(connection, CInt(index), &value) == SQLITE_OK, let value else { return nil }
        return ValueCalls.value(value)
    }
}
