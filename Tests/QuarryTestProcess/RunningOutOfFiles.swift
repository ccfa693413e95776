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
    limitFiles(to: openFiles() + 1)

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

/// Uses more databases of a directory than the process may have files open for, though its places would suffice: idle
/// databases are closed in time.
///
/// Says how many were closed, and how many files are open.
func runDirectoryOutOfFiles(folder: String) throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t (a)") }
    let directory = try DatabaseDirectory(path: folder, maximumOpenCount: 100, migrator: migrator)
    func write(_ number: Int) throws {
        try directory.database(named: "\(number)").write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
    }
    func read(_ number: Int, _ expected: Int) throws {
        let count = try directory.database(named: "\(number)").read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        }
        guard count == expected else { fail("database \(number) has \(count ?? -1) rows, not \(expected)") }
    }
    for number in 0..<6 {
        try write(number)
        try read(number, 1)
    }
    limitFiles(to: openFiles() + 1)
    for number in 6..<20 {
        try write(number)
        try read(number, 1)
    }
    for round in 2..<5 {
        for number in 0..<20 {
            // A read of a closed database needs the files of two connections at once.
            if number.isMultiple(of: 2) { try read(number, round - 1) }
            try write(number)
            try read(number, round)
        }
    }
    let statistics = directory.statistics
    guard statistics.evictedCount > 0, statistics.openCount < 20, statistics.waitingCount == 0 else {
        fail("\(statistics.evictedCount) were closed, \(statistics.openCount) are open")
    }

    // A database that an access uses isn't closed, and neither is one with a snapshot.
    try directory.close()
    try directory.database(named: "0").write { db in
        try db.execute(sql: "INSERT INTO t VALUES (1)")
        let snapshot = try directory.database(named: "1").makeSnapshot()
        var fillers: [Int32] = []
        while case let file = open("/dev/null", O_RDONLY), file >= 0 { fillers.append(file) }
        for _ in 0..<3 {
            do {
                try write(2)
                fail("a database is opened without a file")
            } catch let error as DatabaseError {
                guard error.resultCode == .SQLITE_CANTOPEN else { fail("\(error)") }
            }
        }
        let count = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        guard count == 4 else { fail("the snapshot has \(count ?? -1) rows") }
        for file in fillers { close(file) }
    }
    try read(0, 5)
    try write(2)
    try read(2, 5)
    try directory.close()
    guard directory.statistics.openCount == 0 else { fail("databases stay open") }
    writeAll("closed \(statistics.evictedCount), open \(openFiles())\n", to: 1)
}

/// Creates more databases of a directory than the process may have files open for. The last descriptor is
/// that of a database, of its log, or of the log's index: the number of spare ones differs.
///
/// Says how many databases were made.
func runNewDatabasesOutOfFiles(folder: String) throws {
    var count = 0
    for spare in 12..<20 {
        let directory = try DatabaseDirectory(path: "\(folder)/\(spare)", maximumOpenCount: 1000)
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        limitFiles(to: openFiles() + spare)
        for number in 0..<10 {
            let database = try directory.database(named: "\(number)")
            try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            let value = try database.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") }
            guard value == 1 else { fail("nothing is read") }
            count += 1
        }
        limitFiles(to: 1000)
        try directory.close()
    }

    // Outside of a directory: the idle readers of other pools are closed.
    let pools = try (0..<4).map { try DatabasePool(path: "\(folder)/pool\($0).sqlite") }
    for spare in 1..<5 {
        let writers: [() throws -> any DatabaseWriter] = [
            { try DatabaseQueue(path: "\(folder)/queue\(spare)") },
            { SharedDatabase(path: "\(folder)/shared\(spare)") },
        ]
        for makeWriter in writers {
            for pool in pools { try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM sqlite_master") } }
            limitFiles(to: openFiles() + spare)
            let writer = try makeWriter()
            try writer.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            let value = try writer.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") }
            guard value == 1 else { fail("nothing is read") }
            count += 1
            try writer.close()
            limitFiles(to: 1000)
        }
    }
    writeAll("made \(count)\n", to: 1)
}

/// Lets the process have a number of files open, and no more.
private func limitFiles(to count: Int) {
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(count)
    setrlimit(resource, &limit)
}

private func openFiles() -> Int {
    // Not counted: the folder that is being read.
    let highest = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int($0) } ?? []
    return highest.count { fcntl(Int32($0), F_GETFD) >= 0 }
}
