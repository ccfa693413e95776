import Foundation
import QuarryTestSupport
import Testing

@testable import QuarryCore

/// Builds of SQLite without SQLITE_ENABLE_PREUPDATE_HOOK: a program starts with them, and an error names the option.
/// `make test-newer-sqlite` runs these tests with such a build, and with one that has the option.
@Suite struct PreupdateAvailabilityTests {
    private static let isAvailable = SQLiteLibrary.isBuilt(with: "ENABLE_PREUPDATE_HOOK")

    @Test func theLibraryIsTheOneThatWasAskedFor() {
        let lacksHooks = ProcessInfo.processInfo.environment["QUARRY_SQLITE_LACKS_HOOKS"] != nil
        #expect(Self.isAvailable == !lacksHooks)
    }

    @Test func theHookIsCalledOrAnErrorNamesTheOption() throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            var kinds: [HookSlots.UpdateEvent.Kind] = []
            let add: () throws(DatabaseError) -> HookSlots.Client = { () throws(DatabaseError) in
                try db.hooks.onPreupdate { event in kinds.append(event.kind) }
            }
            guard Self.isAvailable else {
                let error = #expect(throws: DatabaseError.self) { try add() }
                #expect(
                    error?.message == "this build of SQLite has no preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK)")
                return
            }
            let client = try add()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            db.hooks.remove(client)
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(kinds == [.insert])
        }
    }

    /// Closing a connection frees all slots.
    @Test func otherHooksNeedNoPreupdateHook() throws {
        var events: [String] = []
        try withConnection { db in
            _ = db.hooks.onUpdate { _ in events.append("update") }
            _ = db.hooks.onCommit {
                events.append("commit")
                return true
            }
            try db.execute(sql: "CREATE TABLE t (a)")
            events = []
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        #expect(events == ["update", "commit"])
    }
}
