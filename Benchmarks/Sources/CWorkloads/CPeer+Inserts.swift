import BenchSupport
import CSQLiteBench

/// Rows 5: inserting, in memory.
extension CPeer {
    /// A careful programmer knows which number each named parameter has.
    static func insertPrepared(_ sql: String) throws -> Workload {
        try insert { connection, range in
            let statement = try connection.cached(sql)
            for number in range {
                bind(number, to: statement)
                try connection.run(statement)
            }
        }
    }

    static func insertUncached() throws -> Workload {
        try insert { connection, range in
            for number in range {
                var statement: OpaquePointer?
                let code = sqlite3_prepare_v2(connection.handle, BenchSQL.insertItem, -1, &statement, nil)
                guard code == SQLITE_OK, let statement else { throw connection.failure(code) }
                defer { sqlite3_finalize(statement) }
                bind(number, to: statement)
                guard try !connection.step(statement) else { throw connection.failure(SQLITE_MISUSE) }
            }
        }
    }

    private static func insert(
        _ body: @escaping @Sendable (Connection, Range<Int>) throws -> Void
    ) throws -> Workload {
        let connection = try Connection(":memory:")
        try connection.execute(BenchSQL.createItem)
        return Workload(
            .sync { range in
                try connection.run(connection.cached("BEGIN IMMEDIATE TRANSACTION"))
                try body(connection, range)
                try connection.run(connection.cached("COMMIT TRANSACTION"))
                return 0
            },
            finish: {
                let checksum = try connection.integer(BenchSQL.itemChecksum)
                try connection.execute(BenchSQL.deleteItems)
                return checksum
            })
    }

    @inline(__always)
    private static func bind(_ number: Int, to statement: OpaquePointer) {
        for index in 0..<10 {
            sqlite3_bind_int64(statement, Int32(index + 1), Int64(number + index))
        }
    }
}
