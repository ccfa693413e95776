import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 11: opening and closing, and migrating what is up to date.
extension LibraryWorkloads {
    static func migrate(_ fixtures: Fixtures) throws -> Workload {
        let queue = try DatabaseQueue(path: fixtures.copy())
        var migrator = DatabaseMigrator()
        for identifier in BenchSQL.migrations {
            migrator.registerMigration(identifier) { _ in }
        }
        try migrator.migrate(queue)
        return .sync { [migrator] range in
            for _ in range {
                try migrator.migrate(queue)
            }
            return range.count
        }
    }

    static func openQueue(_ fixtures: Fixtures) throws -> Workload {
        let path = try fixtures.copy()
        return .sync { range in
            for _ in range {
                try DatabaseQueue(path: path).close()
            }
            return range.count
        }
    }

    static func openPool(_ fixtures: Fixtures) throws -> Workload {
        let path = try fixtures.copy()
        return .sync { range in
            var sum = 0
            for _ in range {
                let pool = try DatabasePool(path: path)
                sum &+= try pool.read { try Int.fetchOne($0, sql: BenchSQL.selectScore) ?? 0 }
                try pool.close()
            }
            return sum
        }
    }
}
