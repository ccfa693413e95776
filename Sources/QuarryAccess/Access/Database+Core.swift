public import QuarryCore
import Synchronization

extension Database {
    /// The configuration of the connection. `readonly` is true if this connection can't write, as the readers of a
    /// pool.
    public var configuration: Configuration { connectionContext?.configuration ?? Configuration() }

    /// The part of the database that its connections share; nil for a connection that belongs to no queue, pool or
    /// snapshot.
    package var core: DatabaseCore? { connectionContext?.core }

    var connectionContext: ConnectionContext? { context as? ConnectionContext }

    /// Opens another database for work on behalf of this one, prepared as its connections are.
    package func openScratch(path: String) throws -> Database {
        let scratch = try configuration.open(path: path, readonly: false)
        if let core { try scratch.asAccess { scratch in try core.setups.prepare(scratch) } }
        return scratch
    }
}

extension Database {
    /// The connection, as tracers see it; nil for one that belongs to no queue, pool or snapshot.
    var tracedConnection: DatabaseTraceEvent.Connection? { connectionContext?.tracedConnection }

    /// SQLite's plan of a statement whose arguments are unknown; nil if there is none.
    func explanation(of sql: String) -> QueryPlan? {
        let mayWait = !refusesToWait
        refusesToWait = true
        defer { refusesToWait = !mayWait }
        return untraced { try? QueryPlan(ofSQL: sql, self) }
    }
}

extension Database {
    /// Makes the database a copy of an empty one. It must not be in a transaction.
    package func erase() throws {
        let empty = try Configuration().open(path: ":memory:", readonly: false)
        try empty.asAccess { empty in try empty.backup(to: self) }
    }

    /// Copies a file into this database, whose busy mode the wait for the file's lock has.
    ///
    /// - parameter followsTask: whether it is cancelled with the current task.
    func fill(fromPath path: String, followsTask: Bool) throws {
        var configuration = Configuration()
        configuration.busyMode = options.busyMode
        configuration.monotonicClock = clock
        let file = try configuration.open(path: path, readonly: true, followsTask: followsTask)
        try AccessRunner.frame(file, nil, followsTask: followsTask, kind: .pinnedRead) { file in
            try file.backup(to: self)
        }
    }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension Database {
    /// Switches the main database to write-ahead logging, unless it already has that mode:
    /// <https://www.sqlite.org/wal.html>.
    ///
    /// ```sql
    /// PRAGMA main.journal_mode        -- returns if it answers wal
    /// PRAGMA main.synchronous = FULL  -- if it is NORMAL, until the switch is made
    /// PRAGMA main.journal_mode = WAL
    /// PRAGMA main.schema_version
    /// ```
    ///
    /// Without the schema's name, attached databases would be switched too.
    ///
    /// SQLite doesn't call the busy handler while it switches the journal, so one of two processes that open a file at
    /// the same time would fail. Therefore this tries again for some seconds.
    package func activateWAL(path: String) throws {
        guard try String.fetchOne(self, sql: "PRAGMA main.journal_mode") != "wal" else { return }
        // The switch is a transaction of the old journal, which is only safe from power failures at `FULL`:
        // https://www.sqlite.org/pragma.html#pragma_synchronous
        let synchronous = try Int.fetchOne(self, sql: "PRAGMA main.synchronous")
        if synchronous == 1 { try execute(sql: "PRAGMA main.synchronous = FULL") }
        try switchToWAL(path: path)
        if synchronous == 1 { try execute(sql: "PRAGMA main.synchronous = NORMAL") }
    }

    /// Opens the log and its index. Reading creates them, which a process that can't write needs:
    /// <https://www.sqlite.org/wal.html#read_only_databases>.
    func openLog() throws { try makeStatement(sql: "PRAGMA main.schema_version").execute() }

    private func switchToWAL(path: String) throws {
        let end = clock.now + 5_000_000_000
        while true {
            do {
                let mode = try String.fetchOne(self, sql: "PRAGMA main.journal_mode = WAL")
                guard mode == "wal" else {
                    throw DatabaseError(message: "could not activate WAL Mode at path: \(path)")
                        .with(
                            circumstances: mode == "memory"
                                ? ": a pool needs a file. Use DatabaseQueue() for a database in memory"
                                : " (its journal mode is \(mode ?? "unknown"))")
                }
                return try openLog()
            } catch DatabaseError.SQLITE_BUSY where clock.now < end {
                clock.sleep(nanoseconds: 5_000_000)
            }
        }
    }
}
