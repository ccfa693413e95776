import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 5: inserting, in memory.
extension LibraryWorkloads {
    static func insertPrepared() throws -> Workload {
        try insert { db, range in
            let statement = try db.makeStatement(sql: BenchSQL.insertItem)
            for n in range {
                try statement.execute(
                    arguments: [n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9])
            }
        }
    }

    static func insertNamed() throws -> Workload {
        try insert { db, range in
            let statement = try db.makeStatement(sql: BenchSQL.insertItemNamed)
            for n in range {
                try statement.execute(
                    arguments: [
                        "i0": n, "i1": n + 1, "i2": n + 2, "i3": n + 3, "i4": n + 4,
                        "i5": n + 5, "i6": n + 6, "i7": n + 7, "i8": n + 8, "i9": n + 9,
                    ])
            }
        }
    }

    static func insertUncached() throws -> Workload {
        try insert { db, range in
            for n in range {
                try db.execute(
                    sql: BenchSQL.insertItem,
                    arguments: [n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9])
            }
        }
    }

    static func insertItemRecord() throws -> Workload {
        try insert { db, range in
            for number in range { try NamedItem(number: number).insert(db) }
        }
    }

    static func insertItemCodable() throws -> Workload {
        try insert { db, range in
            for number in range { try CodableItem(number: number).insert(db) }
        }
    }

    private static func insert(
        _ body: @escaping @Sendable (Database, Range<Int>) throws -> Void
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: BenchSQL.createItem) }
        return Workload(
            .sync { range in
                try queue.write { try body($0, range) }
                return 0
            },
            finish: {
                try queue.write { db in
                    let checksum = try Int.fetchOne(db, sql: BenchSQL.itemChecksum) ?? 0
                    try db.execute(sql: BenchSQL.deleteItems)
                    return checksum
                }
            })
    }
}
