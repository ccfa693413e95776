import Foundation
import QuarryTestSupport
import Testing

@testable import QuarryChangesets
@testable import QuarryCore

/// Builds of SQLite without SQLITE_ENABLE_SESSION: errors name the option. `make test-newer-sqlite` runs these tests
/// with such a build, and with one that has the option.
@Suite struct SessionAvailabilityTests {
    private static let message = "this build of SQLite has no session extension (SQLITE_ENABLE_SESSION)"

    /// An insertion of 1 into the table `t`.
    private static let bytes: [UInt8] = [0x54, 1, 1, 0x74, 0, 18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]

    @Test func theLibraryIsTheOneThatWasAskedFor() {
        let lacksSessions = ProcessInfo.processInfo.environment["QUARRY_SQLITE_LACKS_HOOKS"] != nil
        #expect(SessionHandle.isAvailable == !lacksSessions)
    }

    @Test func changesetsWorkOrAnErrorNamesTheOption() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: "CREATE TABLE t (a PRIMARY KEY); ATTACH ':memory:' AS old; CREATE TABLE old.t (a PRIMARY KEY)")
            let changeset = try Changeset(bytes: Self.bytes)
            let actions: [() throws -> Void] = [
                { _ = try changeset.inverted() },
                { _ = try changeset + changeset },
                { _ = try changeset.patchset + changeset.patchset },
                { _ = try changeset.rebased(on: Changeset.RebaseInformation(bytes: Self.bytes)) },
                { try db.apply(changeset) },
                { _ = try db.recordChangeset {} },
                { _ = try db.changeset(from: "old", tables: ["t"]) },
            ]
            for action in actions {
                if SessionHandle.isAvailable { try action() } else { expectError(.SQLITE_ERROR, Self.message, action) }
            }
            // Values need no SQLite.
            #expect(changeset.map(\.description) == ["insert t(1)"])
            #expect(try Changeset(bytes: []).inverted().isEmpty)
            #expect(changeset.patchset.map(\.description) == ["insert t(1)"])
        }
    }
}
