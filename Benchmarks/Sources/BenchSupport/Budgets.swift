extension BenchRow {
    /// The rows that are measured, and what each may cost: the one place to change when a budget does.
    package static let all: [BenchRow] = groups.flatMap { $0 }

    private static let groups: [[BenchRow]] = [
        row(.cursorByPosition, "cursor, row[0]...row[9] as Int", FixtureSize.items, .timesC(1.15)),
        row(.cursorUntyped, "same, untyped values", FixtureSize.items, .timesC(1.5)),
        row(.cursorByName, "cursor, row[\"i0\"]...row[\"i9\"]", FixtureSize.items, .timesC(1.4)),
        row(.structsByPosition, "array of structs, init(row:) by position", FixtureSize.items, .timesC(1.15)),
        row(.stringArray, "[String]", FixtureSize.players, .timesC(1.15)),
        row(.intArray, "[Int]", FixtureSize.items, .timesC(1.15)),
        row(.optionalArray, "[Int64?]", FixtureSize.players, .timesC(1.15)),
        row(.insertPrepared, "insert item: prepared statement, positional arguments", 50_000, .timesC(1.3)),
        row(.insertUncached, "execute(sql:arguments:), uncached", 10_000, .timesC(1.2)),
        row(.lookupCached, "cached statement + fetchOne(statement, arguments:)", 20_000, .timesC(1.4)),
        row(.lookupQueueRead, "one queue.read {} for each lookup", 5_000, .timesC(1.5)),
        row(.lookupPoolRead, "one pool.read {} for each lookup, sync", 5_000, .timesC(2)),
        row(.lookupPoolReadAsync, "one await pool.read {} for each lookup", 5_000, .timesC(1.5)),
        rows(.emptyQueueRead, "empty queue.read, in memory", 40_000, .timesC(4)),
        rows(.emptyQueueWrite, "empty queue.write, in memory", 40_000, .timesC(2)),
        rows(.emptyPoolRead, "empty pool.read, WAL", 20_000, .timesC(3)),
        rows(.emptyPoolWrite, "empty pool.write, WAL", 10_000, .timesC(1.3)),
        rows(.emptyQueueReadAsync, "async empty queue read, in memory", 10_000, .timesC(3)),
        rows(.emptyPoolReadAsync, "async empty pool read", 10_000, .timesC(3)),
        rows(
            .emptyPoolReadOffloaded, "async empty pool read, offloaded", 10_000,
            .overC(nanoseconds: 2_000), at8: .timesGRDB(0.2)),
        rows(
            .emptyPoolWriteAsync, "async empty pool write", 5_000,
            .overC(nanoseconds: 2_000), at8: .timesGRDB(0.2)),
        row(.selectCached, "cachedStatement(sql:) + fetchAll(arguments:)", 20_000, .timesC(1.3)),
        row(.selectUncached, "raw SQL, uncached", 5_000, .timesC(1.2)),
        row(.selectNewText, "same, another text each time", 5_000, .timesC(1.2)),
        rows(.threadHop, "thread hop and back, nothing done there", 10_000, .none),
    ]

    private static func row(_ task: BenchTask, _ title: String, _ operations: Int, _ budget: Budget) -> [BenchRow] {
        [BenchRow(task: task, clients: 0, title: title, operations: operations, budget: budget)]
    }

    /// A sub-row for each number of threads or tasks.
    private static func rows(
        _ task: BenchTask, _ title: String, _ operations: Int, _ budget: Budget, at8: Budget? = nil
    ) -> [BenchRow] {
        [1, 2, 8].map { clients in
            BenchRow(
                task: task, clients: clients, title: title, operations: operations,
                budget: clients == 8 ? at8 ?? budget : budget)
        }
    }
}
