import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 7: accesses that do nothing.
extension LibraryWorkloads {
    /// A pool that has left something in the log, as C's has: SQLite reads beside an empty log, and asks the system for
    /// the size of the file in each transaction.
    static func openedPool(_ path: String, _ configuration: Configuration = Configuration()) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE opened(x); DROP TABLE opened") }
        return pool
    }

    static func emptyQueueRead() throws -> Workload {
        let queue = try DatabaseQueue()
        return .sync { range in
            for _ in range {
                try queue.read { _ in }
            }
            return range.count
        }
    }

    static func emptyQueueWrite() throws -> Workload {
        let queue = try DatabaseQueue()
        return .sync { range in
            for _ in range {
                try queue.write { _ in }
            }
            return range.count
        }
    }

    static func emptyPoolRead(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.newPath())
        return .sync { range in
            for _ in range {
                try pool.read { _ in }
            }
            return range.count
        }
    }

    static func emptyPoolWrite(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.newPath())
        return .sync { range in
            for _ in range {
                try pool.write { _ in }
            }
            return range.count
        }
    }

    static func emptyInDatabase() throws -> Workload {
        let queue = try DatabaseQueue()
        return .sync { range in
            for _ in range {
                try queue.inDatabase { (_) throws in }
            }
            return range.count
        }
    }

    static func emptyUnsafeRead(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.newPath())
        return .sync { range in
            for _ in range {
                try pool.unsafeRead { _ in }
            }
            return range.count
        }
    }

    static func emptyQueueWriteAsync() throws -> Workload {
        let queue = try DatabaseQueue()
        return .async { range in
            for _ in range {
                try await queue.write { _ in }
            }
            return range.count
        }
    }

    static func emptyQueueReadAsync() throws -> Workload {
        let queue = try DatabaseQueue()
        return .async { range in
            for _ in range {
                try await queue.read { _ in }
            }
            return range.count
        }
    }

    static func emptyPoolReadAsync(_ fixtures: Fixtures, _ configuration: Configuration) throws -> Workload {
        let pool = try openedPool(fixtures.newPath(), configuration)
        return .async { range in
            for _ in range {
                try await pool.read { _ in }
            }
            return range.count
        }
    }

    static func emptyPoolWriteAsync(_ fixtures: Fixtures) throws -> Workload {
        let pool = try openedPool(fixtures.newPath())
        return .async { range in
            for _ in range {
                try await pool.write { _ in }
            }
            return range.count
        }
    }
}
