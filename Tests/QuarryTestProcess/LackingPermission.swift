import Foundation
import Quarry
import QuarryShared

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Uses the databases of a folder whose owner takes away the permission to list it, to search it, and to write into it.
///
/// Permissions don't bind the superuser, so the process becomes another user first.
///
/// - parameter folder: a folder in which everyone may write.
func lackPermission(folder: String) throws {
    if geteuid() == 0 {
        let nobody: UInt32 = 65_534
        guard setgroups(0, nil) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else { fail("the user stays") }
    }
    let path = "\(folder)/tenants"
    guard mkdir(path, 0o700) == 0 else { fail("no folder is made") }
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (a)") }
    let directory = try DatabaseDirectory(path: path, maximumOpenCount: 2, migrator: migrator)
    let closed = try directory.database(named: "closed")
    let open = try directory.database(named: "open")
    func write(_ database: SharedDatabase) throws {
        try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
    }
    func rowCount(_ database: SharedDatabase) throws -> Int? {
        try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }
    func expect(_ codes: ResultCode..., text: String, _ name: String, _ body: () throws -> Void) {
        do {
            try body()
            fail("\(name) has no error")
        } catch let error as DatabaseError {
            guard codes.contains(error.resultCode.primaryResultCode), error.description.contains(text) else {
                fail("\(name): \(error)")
            }
        } catch {
            fail("\(name): \(error)")
        }
    }
    try write(closed)
    try write(open)
    try closed.close()

    for (number, permissions) in ([0o000, 0o400, 0o500] as [mode_t]).enumerated() {
        guard chmod(path, permissions) == 0 else { fail("chmod \(permissions)") }
        for _ in 0..<3 {
            // A file that can be opened needs a log, which can't be made.
            let code = permissions & 0o100 == 0 ? ResultCode.SQLITE_CANTOPEN : .SQLITE_READONLY
            expect(code, .SQLITE_CANTOPEN, text: "\(path)/closed.sqlite", "a write") { try write(closed) }
            expect(code, .SQLITE_CANTOPEN, text: "\(path)/closed.sqlite", "a read") { _ = try rowCount(closed) }
        }
        // A connection that is open goes on.
        let count = try open.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        }
        guard count == number + 2 else { fail("the open database has lost a row") }
        if permissions & 0o400 == 0 {
            expect(.SQLITE_CANTOPEN, text: "unable to list \(path): Permission denied", "names") {
                _ = try directory.names()
            }
        } else {
            guard try directory.names() == ["closed", "open"] else { fail("other names") }
        }
        if permissions & 0o100 == 0 {
            expect(.SQLITE_CANTOPEN, text: "Permission denied", "contains") { _ = try directory.contains("closed") }
        } else {
            guard try directory.contains("closed"), try !directory.contains("new") else { fail("contains") }
            expect(.SQLITE_IOERR, text: "could not remove \(path)/closed.sqlite", "remove") {
                try directory.remove("closed")
            }
            expect(.SQLITE_CANTOPEN, text: "\(path)/new.sqlite", "a new database") {
                try write(directory.database(named: "new"))
            }
        }
        // The places of the databases that couldn't be opened aren't lost.
        guard directory.statistics.openCount <= 2, directory.statistics.waitingCount == 0 else { fail("places") }
    }
    guard chmod(path, 0o700) == 0 else { fail("chmod 700") }
    try write(closed)
    try write(directory.database(named: "new"))
    guard try rowCount(closed) == 2, try rowCount(open) == 4, try directory.names() == ["closed", "new", "open"] else {
        fail("the databases aren't as they were")
    }
    try directory.close()
    say("done")
}
