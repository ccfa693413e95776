import Foundation
import Quarry
import QuarryTestSupport

/// Accesses inside accesses, at closed databases, of snapshots that are lost; configurations that mean nothing.
extension BadInput {
    static let accesses: [BadInput] = [
        .queue(
            "a read in a read",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.read { _ in try queue.read { _ in } } },
        .queue(
            "a write in a read",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.read { _ in try queue.write { _ in } } },
        .queue(
            "a write in a write",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.write { _ in try queue.write { _ in } } },
        .queue(
            "a barrier in a write",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in
            try queue.write { _ in try queue.barrierWriteWithoutTransaction { _ in } }
        },
        .queue(
            "to close in a write",
            "SQLITE_BUSY: unable to close the connection of :memory:: an access of this thread still runs"
        ) { queue in try queue.write { _ in try queue.close() } },
        .queue(
            "to erase in a write",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.write { _ in try queue.erase() } },
        .queue(
            "to vacuum a queue in a read",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the connection of :memory:: \
            pass its db to functions instead of using the database in them.
            """
        ) { queue in try queue.read { _ in try queue.vacuum() } },
        .queue(
            "a reentrant write that fails",
            "SQLITE_ERROR: no such table: nowhere - while executing `DELETE FROM nowhere`"
        ) { queue in
            try queue.write { _ in
                try queue.unsafeReentrantWrite { db in try db.execute(sql: "DELETE FROM nowhere") }
            }
        },
        .queue(
            "a reentrant write in a read",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `DELETE \
            FROM player`
            """
        ) { queue in
            try queue.read { _ in
                try queue.unsafeReentrantWrite { db in try db.execute(sql: "DELETE FROM player") }
            }
        },
        .queue(
            "a concurrent read in a transaction of a queue",
            "SQLITE_MISUSE: a concurrent read sees the last commit: it can't begin inside a transaction"
        ) { queue in
            let error = Recorded<(any Error)?>(nil)
            try queue.write { _ in
                queue.spawnConcurrentRead { result in
                    if case .failure(let failure) = result { error.update { $0 = failure } }
                }
            }
            if let error = error.value { throw error }
        },
        .queue(
            "a read of a closed queue",
            "SQLITE_MISUSE: Connection is closed: the connection of :memory:"
        ) { _ in
            let other = try DatabaseQueue()
            try other.close()
            try other.read { _ in }
        },
        .queue(
            "a Database of a closed queue",
            "SQLITE_MISUSE: Connection is closed: :memory:"
        ) { _ in
            let other = try DatabaseQueue()
            let db = try other.read { db in db }
            try other.close()
            try db.execute(sql: "SELECT 1")
        },
        .pool(
            "a read in a read of a pool",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has a reader of FOLDER/a.sqlite: \
            pass its db to functions instead of using the database in them.
            """
        ) { pool, _ in try pool.read { _ in try pool.read { _ in } } },
        .pool(
            "a write in a write of a pool",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has the writer of FOLDER/a.sqlite: \
            pass its db to functions instead of using the database in them.
            """
        ) { pool, _ in try pool.write { _ in try pool.write { _ in } } },
        .pool(
            "a barrier in a read of a pool",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has a reader of FOLDER/a.sqlite: \
            pass its db to functions instead of using the database in them.
            """
        ) { pool, _ in
            try pool.read { _ in try pool.barrierWriteWithoutTransaction { _ in } }
        },
        .pool(
            "to close in a read of a pool",
            "SQLITE_BUSY: unable to close a reader of FOLDER/a.sqlite: an access of this thread still runs"
        ) { pool, _ in try pool.read { _ in try pool.close() } },
        .pool(
            "to write with a reader of a pool",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `DELETE \
            FROM player`
            """
        ) { pool, _ in
            try pool.read { db in try db.execute(sql: "DELETE FROM player") }
        },
        .pool(
            "to write with an unsafe reader of a pool",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `DELETE \
            FROM player`
            """
        ) { pool, _ in
            try pool.unsafeRead { db in try db.execute(sql: "DELETE FROM player") }
        },
        .pool(
            "to leave WAL mode with a reader of a pool",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `PRAGMA \
            journal_mode = DELETE`
            """
        ) { pool, _ in
            try pool.unsafeRead { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
        }.or(
            """
            SQLITE_BUSY: database is locked: FOLDER/a.sqlite, by another connection (another process or pool?) - while \
            executing `PRAGMA journal_mode = DELETE`
            """
        ),
        .pool(
            "a reader's transaction that is left open",
            "SQLITE_MISUSE: A transaction has been left open at the end of a database access."
        ) { pool, _ in
            try pool.unsafeRead { db in try db.beginTransaction() }
        },
        .pool(
            "a concurrent read outside a write",
            "SQLITE_MISUSE: a concurrent read must begin inside a write of its pool"
        ) { pool, _ in
            let error = Recorded<(any Error)?>(nil)
            pool.asyncConcurrentRead { result in
                if case .failure(let failure) = result { error.update { $0 = failure } }
            }
            if let error = error.value { throw error }
        },
        .pool(
            "a concurrent read in a transaction",
            "SQLITE_MISUSE: a concurrent read sees the last commit: it can't begin inside a transaction"
        ) { pool, _ in
            let error = Recorded<(any Error)?>(nil)
            try pool.write { _ in
                pool.asyncConcurrentRead { result in
                    if case .failure(let failure) = result { error.update { $0 = failure } }
                }
            }
            if let error = error.value { throw error }
        },
        .pool(
            "a write of a closed pool",
            "SQLITE_MISUSE: Connection is closed: the writer of FOLDER/b.sqlite"
        ) { _, folder in
            let other = try DatabasePool(path: folder.file("b.sqlite"))
            try other.close()
            try other.write { _ in }
        },
        .pool(
            "a statement of the writer with a reader",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { pool, _ in
            let statement = try pool.write { db in try db.makeStatement(sql: "SELECT 1") }
            try pool.read { _ in _ = try Int.fetchOne(statement) }
        },
    ]

    static let snapshots: [BadInput] = [
        .pool(
            "a snapshot in a transaction",
            "SQLITE_MISUSE: a snapshot sees the last commit: it can't be made inside a transaction"
        ) { pool, _ in try pool.write { _ in _ = try pool.makeSnapshot() } },
        .pool(
            "a pool of snapshots in a transaction",
            "SQLITE_MISUSE: a snapshot sees the last commit: it can't be made inside a transaction"
        ) { pool, _ in
            try pool.write { _ in _ = try pool.makeSnapshotPool() }
        },
        .pool(
            "to write in a snapshot",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `DELETE \
            FROM player`
            """
        ) { pool, _ in
            try pool.makeSnapshot().read { db in try db.execute(sql: "DELETE FROM player") }
        },
        .pool(
            "a snapshot that has lost its transaction",
            "SQLITE_ABORT: Snapshot is lost."
        ) { pool, _ in
            let snapshot = try pool.makeSnapshot()
            try snapshot.read { db in try db.commit() }
            try snapshot.read { _ in }
        },
        .pool(
            "a snapshot whose transaction is another",
            """
            SQLITE_ERROR: cannot start a transaction within a transaction - while executing `BEGIN DEFERRED \
            TRANSACTION`
            """
        ) { pool, _ in
            try pool.makeSnapshot().read { db in try db.inTransaction { .commit } }
        },
        .pool(
            "a read in a read of a snapshot",
            """
            SQLITE_MISUSE: Database methods are not reentrant. This thread already has a snapshot of FOLDER/a.sqlite: \
            pass its db to functions instead of using the database in them.
            """
        ) { pool, _ in
            let snapshot = try pool.makeSnapshot()
            try snapshot.read { _ in try snapshot.read { _ in } }
        },
        .pool(
            "a snapshot that is closed",
            "SQLITE_MISUSE: Connection is closed: a snapshot of FOLDER/a.sqlite"
        ) { pool, _ in
            let snapshot = try pool.makeSnapshot()
            try snapshot.close()
            try snapshot.read { _ in }
        },
        .pool(
            "a pool of snapshots that is closed",
            "SQLITE_MISUSE: Connection is closed: a connection of a snapshot of FOLDER/a.sqlite"
        ) { pool, _ in
            let snapshots = try pool.makeSnapshotPool()
            try snapshots.close()
            try snapshots.read { _ in }
        },
        .pool(
            "a snapshot of a pool that is closed",
            "SQLITE_MISUSE: Connection is closed: the writer of FOLDER/b.sqlite"
        ) { _, folder in
            let other = try DatabasePool(path: folder.file("b.sqlite"))
            try other.close()
            _ = try other.makeSnapshot()
        },
    ]

    static let configurations: [BadInput] = [
        .files(
            "no reader",
            "SQLITE_MISUSE: Configuration.maximumReaderCount must be from 1 to 10000, not 0",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.maximumReaderCount = 0 }
        },
        .files(
            "less than no reader",
            "SQLITE_MISUSE: Configuration.maximumReaderCount must be from 1 to 10000, not -5",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.maximumReaderCount = -5 }
        },
        .files(
            "more readers than a process can have",
            "SQLITE_MISUSE: Configuration.maximumReaderCount must be from 1 to 10000, not 9223372036854775807",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.maximumReaderCount = .max }
        },
        .files(
            "a time to wait below zero",
            "SQLITE_MISUSE: Configuration.acquireTimeout must be a number of seconds, not -1.0",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.acquireTimeout = -1 }
        },
        .files(
            "a time to wait that is no number",
            "SQLITE_MISUSE: Configuration.acquireTimeout must be a number of seconds, not nan",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.acquireTimeout = .nan }
        },
        .files(
            "less than none who wait",
            "SQLITE_MISUSE: Configuration.maximumWaiters must be at least 0, not -1",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.maximumWaiters = -1 }
        },
        .files(
            "a time for statements below zero",
            "SQLITE_MISUSE: Configuration.statementTimeout must be a number of seconds, not -0.5",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.statementTimeout = -0.5 }
        },
        .files(
            "a time for locks below zero",
            "SQLITE_MISUSE: Configuration.busyMode must be a number of seconds, not -1.0",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.busyMode = .timeout(-1) }
        },
        .files(
            "a time for readers' locks that is no number",
            "SQLITE_MISUSE: Configuration.readonlyBusyMode must be a number of seconds, not nan",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.readonlyBusyMode = .timeout(.nan) }
        },
        .files(
            "less than no statement kept",
            "SQLITE_MISUSE: Configuration.statementCacheCapacity must be at least 0, not -1",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.statementCacheCapacity = -1 }
        },
        .files(
            "a cache below zero",
            "SQLITE_MISUSE: Configuration.cacheSize must be at least 0, not -4096",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.cacheSize = -4096 }
        },
        .files(
            "a mapping below zero",
            "SQLITE_MISUSE: Configuration.mmapSize must be at least 0, not -1",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.mmapSize = -1 }
        },
        .files(
            "a preparation that throws",
            "Refusal: Refusal()", prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.prepareDatabase { _ in throw Refusal() } }
        },
        .files(
            "a preparation with wrong SQL",
            "SQLITE_ERROR: incomplete input - while executing `PRAGMA`",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.prepareDatabase { db in try db.execute(sql: "PRAGMA") } }
        },
        .files(
            "a preparation that leaves a transaction open",
            "SQLITE_MISUSE: A transaction has been left open at the end of a database access.",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.prepareDatabase { db in try db.beginTransaction(.deferred) } }
        },
        .files(
            "a preparation with a function that is none",
            "SQLITE_MISUSE: the name of a function has 1 to 255 bytes of UTF-8 and no NUL: \"\"",
            prepare: Preparation { try database($0, "a.sqlite") }
        ) {
            try open($0) { $0.prepareDatabase { db in db.add(function: DatabaseFunction("") { _ in 1 }) } }
        },
        .files(
            "a queue in memory with a time that is no number",
            "SQLITE_MISUSE: Configuration.acquireTimeout must be a number of seconds, not -inf"
        ) { _ in
            var configuration = Configuration()
            configuration.acquireTimeout = -.infinity
            _ = try DatabaseQueue(configuration: configuration)
        },
    ]

    /// Opens a pool on an existing file.
    private static func open(_ folder: TemporaryFolder, _ change: (inout Configuration) -> Void) throws {
        var configuration = Configuration()
        change(&configuration)
        _ = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
    }
}
