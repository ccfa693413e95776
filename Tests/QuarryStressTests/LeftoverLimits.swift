import Dispatch
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// How much a load may leave behind: nothing, as far as it can be counted exactly.
struct LeftoverLimits: Sendable {
    let before: ProcessUse

    /// Swift's and Dispatch's own threads come and go: as many as there are cores, and one that manages timers.
    static let systemThreads = CooperativePool.width + 2

    /// `malloc` counts a little more than what is in use: each thread keeps up to 7 free blocks of
    /// each of 64 sizes up to 1 kB, at most 236 kB (<https://sourceware.org/glibc/wiki/MallocInternals>). Two of
    /// Swift's threads are left, which may have kept nothing before. A load makes thousands of accesses in a second: a
    /// leak of a few bytes for each shows in runs of half a minute.
    static let mallocBytes = 2 * 236_000

    /// Begins to count, in a process of its own.
    static func begin() async throws -> LeftoverLimits {
        ThrownErrors.areNotKept()
        // From here on, Dispatch, SQLite and the watcher of files have open what they open once.
        let hasFired = Step("a timer has fired")
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { hasFired.reach() }
        try await hasFired.reached()
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try await pool.unsafeRead { db in try db.execute(sql: "SELECT random() FROM t") }
        _ = pool.lastCommitNumber
        try await until("the file is watched") { pool.core.journal.watch?.isWatching ?? false }
        try pool.close()
        return LeftoverLimits(before: try ProcessUse.now())
    }

    /// Waits for the connections and threads to go, and tells what is left then.
    func settled(_ connections: LiveConnections) async throws -> ProcessUse {
        do {
            try await until("no connection is left") { connections.count == 0 }
            try await until("no thread is left") {
                try ProcessUse.threadCount() <= before.threads + Self.systemThreads
            }
            try await until("no memory of SQLite is left") { ProcessUse.sqliteBytes <= before.sqliteBytes }
            try await until("no descriptor is left") { try ProcessUse.descriptorCount() <= before.descriptors }
            return try ProcessUse.now()
        } catch let error as Step.NeverReached {
            let now = try ProcessUse.now()
            throw Step.NeverReached("\(error.description): \(connections.count) connections, \(now), before: \(before)")
        }
    }

    /// Compares what is left after the second of three equal loads, and after the third.
    ///
    /// - parameter poolCount: how many pools the third has opened: the timer of each, which looks for readers that
    ///   nobody uses, stays for 30 seconds, of less than 512 bytes.
    func check(second: ProcessUse, third: ProcessUse, poolCount: Int = 1) {
        #expect(second.sqliteBytes == before.sqliteBytes)
        #expect(third.sqliteBytes == before.sqliteBytes)
        #expect(second.descriptors == before.descriptors)
        #expect(third.descriptors == before.descriptors)
        #expect(third.mallocBytes <= second.mallocBytes + Self.mallocBytes + poolCount * 512)
    }
}
