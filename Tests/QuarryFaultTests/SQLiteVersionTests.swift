import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// `make test-newer-sqlite` puts another library in the place of the system's: what runs must be that one.
@Suite("SQLite's version") struct SQLiteVersionTests {
    @Test func isTheOneThatWasAskedFor() async throws {
        let version = try await DatabaseQueue().read { db in
            try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? ""
        }
        if let expected = ProcessInfo.processInfo.environment["QUARRY_SQLITE_VERSION"] { #expect(version == expected) }
        let child = try await onOwnThread(within: 60) { try ChildProcess(["sqlite-version"]).wait() }
        #expect(child.lines == [version])
    }
}
