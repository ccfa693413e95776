import Synchronization

/// Counts of a connection, which the thread that has it writes, and any thread reads.
///
/// A count is stored, not added to: only one thread at a time writes, so that counting takes three instructions.
struct ConnectionCounters: ~Copyable {
    struct Counter: ~Copyable {
        private let number = Atomic<Int>(0)

        var value: Int { number.load(ordering: .relaxed) }

        @inline(__always)
        func increment() { number.store(number.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

        func set(_ value: Int) { number.store(value, ordering: .relaxed) }

        /// Follows a number of SQLite's that begins again at 0 after 31 bits.
        func follow(_ number: Int) { set(value + (number - value & Int(Int32.max))) }
    }

    let preparedStatements = Counter()
    let foundStatements = Counter()
    let runStatements = Counter()
    let commits = Counter()
    let rollbacks = Counter()
    let failedCommits = Counter()
    let busyRetries = Counter()

    /// SQLite's numbers, as they were last read.
    let cacheHits = Counter()
    let cacheMisses = Counter()
    let cacheWrites = Counter()
    let cacheSpills = Counter()
    let cacheBytes = Counter()
    let schemaBytes = Counter()
    let statementBytes = Counter()

    /// Whether the end of the access has to read SQLite's numbers.
    private let isAskedForStatus = Atomic<Bool>(false)

    func askForStatus() { isAskedForStatus.store(true, ordering: .relaxed) }

    /// Reads the numbers of the page cache. The caller has the connection, or prevents every access to it.
    func readCacheStatus(of connection: SQLiteConnection) {
        cacheHits.follow(ConnectionCalls.status(connection, .cacheHits))
        cacheMisses.follow(ConnectionCalls.status(connection, .cacheMisses))
        cacheWrites.follow(ConnectionCalls.status(connection, .cacheWrites))
        cacheSpills.follow(ConnectionCalls.status(connection, .cacheSpills))
        cacheBytes.set(ConnectionCalls.status(connection, .cacheBytes))
    }

    /// Whether `askForStatus` was called since the numbers were last read.
    @inline(__always)
    var needStatus: Bool { isAskedForStatus.load(ordering: .relaxed) }

    /// Reads all numbers, as asked. The schema and the statements are counted by walking over them.
    @inline(never)
    func readStatus(of connection: SQLiteConnection) {
        isAskedForStatus.store(false, ordering: .relaxed)
        readCacheStatus(of: connection)
        schemaBytes.set(ConnectionCalls.status(connection, .schemaBytes))
        statementBytes.set(ConnectionCalls.status(connection, .statementBytes))
    }

    /// A value of all counts.
    var counts: ConnectionCounts {
        var counts = ConnectionCounts()
        counts.preparedStatements = preparedStatements.value
        counts.foundStatements = foundStatements.value
        counts.runStatements = runStatements.value
        counts.commits = commits.value
        counts.rollbacks = rollbacks.value
        counts.failedCommits = failedCommits.value
        counts.busyRetries = busyRetries.value
        counts.cacheHits = cacheHits.value
        counts.cacheMisses = cacheMisses.value
        counts.cacheWrites = cacheWrites.value
        counts.cacheSpills = cacheSpills.value
        counts.cacheBytes = cacheBytes.value
        counts.schemaBytes = schemaBytes.value
        counts.statementBytes = statementBytes.value
        return counts
    }
}

/// Counts of a connection, or of several.
package struct ConnectionCounts: Equatable, Sendable {
    package var preparedStatements = 0
    package var foundStatements = 0
    package var runStatements = 0
    package var commits = 0
    package var rollbacks = 0
    package var failedCommits = 0
    package var busyRetries = 0
    package var cacheHits = 0
    package var cacheMisses = 0
    package var cacheWrites = 0
    package var cacheSpills = 0
    package var cacheBytes = 0
    package var schemaBytes = 0
    package var statementBytes = 0

    package init() {}
}

extension ConnectionCounts {
    package static func += (sum: inout Self, other: Self) {
        sum.addCounts(of: other)
        sum.cacheBytes += other.cacheBytes
        sum.schemaBytes += other.schemaBytes
        sum.statementBytes += other.statementBytes
    }

    /// Adds the counts of a connection that is closed, whose memory is free.
    package mutating func addCounts(of other: Self) {
        preparedStatements += other.preparedStatements
        foundStatements += other.foundStatements
        runStatements += other.runStatements
        commits += other.commits
        rollbacks += other.rollbacks
        failedCommits += other.failedCommits
        busyRetries += other.busyRetries
        cacheHits += other.cacheHits
        cacheMisses += other.cacheMisses
        cacheWrites += other.cacheWrites
        cacheSpills += other.cacheSpills
    }
}
