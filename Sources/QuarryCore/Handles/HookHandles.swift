import CSQLite

/// Installs the hooks of a connection, with its `HookSlots` as context; a nil context takes a hook away.
enum HookHandles {
    private static func slots(_ context: UnsafeMutableRawPointer?) -> HookSlots {
        // `HookSlots` lives as long as `Database`, which takes every hook away before it goes.
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
                for entry in HookHandles.slots(context).update.entries { entry.handler(event) }
            }, context)
    }

    /// The corresponding C function is `sqlite3_preupdate_hook`.
    static func setPreupdateHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_preupdate_hook(connection, nil, nil) }
        sqlite3_preupdate_hook(
            connection,
            { context, connection, kind, schema, table, oldRowID, newRowID in
                guard let connection, let schema, let table else { return }
                let event = PreupdateEvent(
                    connection: connection, kind: .init(kind), schema: schema, table: table, oldRowID: oldRowID,
                    newRowID: newRowID)
                for entry in HookHandles.slots(context).preupdate.entries { entry.handler(event) }
            }, context)
    }

    /// The corresponding C function is `sqlite3_commit_hook`.
    static func setCommitHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_commit_hook(connection, nil, nil) }
        sqlite3_commit_hook(
            connection,
            { context in
                // Every client is asked, even after one has refused.
                var mayCommit = true
                for entry in HookHandles.slots(context).commit.entries where !entry.handler() { mayCommit = false }
                return mayCommit ? 0 : 1
            }, context)
    }

    /// The corresponding C function is `sqlite3_rollback_hook`.
    static func setRollbackHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_rollback_hook(connection, nil, nil) }
        sqlite3_rollback_hook(
            connection,
            { context in
                for entry in HookHandles.slots(context).rollback.entries { entry.handler() }
            }, context)
    }

    /// The corresponding C function is `sqlite3_wal_hook`.
    static func setWALHook(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else {
            // The default: https://www.sqlite.org/c3ref/wal_autocheckpoint.html
            sqlite3_wal_autocheckpoint(connection, 1000)
            return
        }
        sqlite3_wal_hook(
            connection,
            { context, connection, schema, pages in
                guard let schema else { return SQLITE_OK }
                for entry in HookHandles.slots(context).wal.entries { entry.handler(schema, Int(pages)) }
                if pages >= 1000 { sqlite3_wal_checkpoint_v2(connection, schema, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
                return SQLITE_OK
            }, context)
    }

    /// The corresponding C function is `sqlite3_set_authorizer`.
    static func setAuthorizer(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return _ = sqlite3_set_authorizer(connection, nil, nil) }
        sqlite3_set_authorizer(
            connection,
            { context, action, first, second, schema, trigger in
                let authorization = HookSlots.Authorization(
                    action: action, first: first, second: second, schema: schema, trigger: trigger)
                let answers = HookHandles.slots(context).authorizer.entries.map { $0.handler(authorization) }
                return switch answers.max() ?? .allow {
                case .allow: SQLITE_OK
                case .ignore: SQLITE_IGNORE
                case .deny: SQLITE_DENY
                }
            }, context)
    }

    /// The corresponding C function is `sqlite3_progress_handler`.
    static func setProgressHandler(_ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?) {
        guard let context else { return sqlite3_progress_handler(connection, 0, nil, nil) }
        sqlite3_progress_handler(
            connection, 1000,
            { context in
                for entry in HookHandles.slots(context).progress.entries where !entry.handler() { return 1 }
                return 0
            }, context)
    }

    /// The corresponding C function is `sqlite3_trace_v2`.
    static func setTrace(
        _ connection: SQLiteConnection, _ context: UnsafeMutableRawPointer?, statements: Bool, profiles: Bool
    ) {
        let mask = (statements ? SQLITE_TRACE_STMT : 0) | (profiles ? SQLITE_TRACE_PROFILE : 0)
        guard let context else { return _ = sqlite3_trace_v2(connection, 0, nil, nil) }
        sqlite3_trace_v2(
            connection, UInt32(mask),
            { kind, context, statement, detail in
                guard let statement, let detail else { return 0 }
                let statementPointer = OpaquePointer(statement)
                for entry in HookHandles.slots(context).trace.entries {
                    if kind == UInt32(SQLITE_TRACE_STMT), entry.handler.statements {
                        let text = UnsafePointer(detail.assumingMemoryBound(to: CChar.self))
                        entry.handler.handler(.statement(statementPointer, text: text))
                    } else if kind == UInt32(SQLITE_TRACE_PROFILE), entry.handler.profiles {
                        let nanoseconds = detail.assumingMemoryBound(to: Int64.self).pointee
                        entry.handler.handler(.profile(statementPointer, nanoseconds: nanoseconds))
                    }
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
                for entry in HookHandles.slots(context).busy.entries where !entry.handler(Int(tries)) { return 0 }
                return 1
            }, context)
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

/// A row that is about to change: <https://www.sqlite.org/c3ref/preupdate_count.html>.
package struct PreupdateEvent {
    let connection: SQLiteConnection
    package let kind: HookSlots.UpdateEvent.Kind
    package let schema: UnsafePointer<CChar>
    package let table: UnsafePointer<CChar>
    package let oldRowID: Int64
    package let newRowID: Int64

    /// The number of columns of the row. The corresponding C function is `sqlite3_preupdate_count`.
    package var columnCount: Int { Int(sqlite3_preupdate_count(connection)) }

    /// 0 for a change by a statement itself, more inside triggers. The corresponding C function is `sqlite3_preupdate_depth`.
    package var depth: Int { Int(sqlite3_preupdate_depth(connection)) }

    /// A column before the change; nil for an INSERT. The corresponding C function is `sqlite3_preupdate_old`.
    package func oldValue(_ index: Int) -> DatabaseValue? {
        var value: OpaquePointer?
        guard sqlite3_preupdate_old(connection, CInt(index), &value) == SQLITE_OK, let value else { return nil }
        return ValueHandle.value(value)
    }

    /// A column after the change; nil for a DELETE. The corresponding C function is `sqlite3_preupdate_new`.
    package func newValue(_ index: Int) -> DatabaseValue? {
        var value: OpaquePointer?
        guard sqlite3_preupdate_new(connection, CInt(index), &value) == SQLITE_OK, let value else { return nil }
        return ValueHandle.value(value)
    }
}
