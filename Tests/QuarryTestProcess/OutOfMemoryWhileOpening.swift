import CFaultMalloc
import Quarry

/// SQLite's memory runs out once, at every allocation of opening a connection: the opening gives memory back, tries
/// again, and succeeds.
func runOutOfMemoryWhileOpening(folder: String) throws {
    let code = fault_malloc_install()
    guard code == 0 else { fail("SQLite doesn't take the allocator: \(code)") }
    let other = try DatabasePool(path: folder + "/other.sqlite")
    try other.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
    var nth: Int64 = 0
    var wasReached = true
    while wasReached {
        nth += 1
        _ = try other.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        fault_malloc_arm(nth, 0)
        let result = Result { try DatabaseQueue(path: folder + "/other.sqlite") }
        wasReached = fault_malloc_failures() > 0
        fault_malloc_disarm()
        do {
            let count = try result.get().read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
            guard count == 0 else { fail("allocation \(nth): the count is \(count ?? -1)") }
        } catch {
            fail("allocation \(nth): \(error)")
        }
    }
    // A lasting shortage is told.
    fault_malloc_arm(1, 1)
    let result = Result { try DatabaseQueue(path: folder + "/other.sqlite") }
    fault_malloc_disarm()
    guard case .failure(let error as DatabaseError) = result, error.resultCode == .SQLITE_NOMEM else {
        fail("a lasting shortage: \(result)")
    }
    writeAll("\(nth) allocations\n", to: 1)
}
