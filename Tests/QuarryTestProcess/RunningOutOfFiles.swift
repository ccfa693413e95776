import Foundation
import Quarry

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Uses more databases than the process may have files open for: idle readers are closed in time.
///
/// Says how many openings of the file system were refused at the end, when nothing is idle.
func runOutOfFiles(folder: String) throws {
    var pools: [DatabasePool] = []
    for number in 0..<8 {
        let pool = try DatabasePool(path: "\(folder)/\(number).sqlite")
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        pools.append(pool)
    }
    func read(_ pool: DatabasePool) throws {
        let value = try pool.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") }
        guard value == 1 else { fail("nothing is read") }
    }
    // Each has a reader, which is idle now.
    for pool in pools { try read(pool) }
    #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(openFiles() + 1)
    setrlimit(resource, &limit)

    // A new database needs three files, of which one is left.
    let other = try DatabasePool(path: "\(folder)/other.sqlite")
    try other.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    try read(other)
    for _ in 0..<20 { for pool in pools + [other] { try read(pool) } }

    // Nested reads of all: those in use are never closed, so that the files do not suffice.
    var fillers: [Int32] = []
    DatabaseMemory.releaseIdle()
    while case let file = open("/dev/null", O_RDONLY), file >= 0 { fillers.append(file) }
    do {
        try read(pools[0])
        fail("a reader is opened without a file")
    } catch let error as DatabaseError {
        guard error.resultCode == .SQLITE_CANTOPEN else { fail("\(error)") }
    }
    for file in fillers { close(file) }
    for pool in pools { try read(pool) }
    writeAll("refused once, open \(openFiles())\n", to: 1)
}

private func openFiles() -> Int {
    // Not counted: the folder that is being read.
    let highest = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int($0) } ?? []
    return highest.count { fcntl(Int32($0), F_GETFD) >= 0 }
}
