extension BenchRow {
    /// The rows that are measured, and what each may cost: the one place to change when a budget does.
    package static let all: [BenchRow] = groups.flatMap { $0 }

    private static let groups: [[BenchRow]] = [
        row(.cursorByPosition, "cursor, row[0]...row[9] as Int", .items, .timesC(1.15)),
        row(.playersByPosition, "cursor, player: six columns of four types by position", .players, .timesC(1.15)),
        row(.cursorUntyped, "ten integers, untyped values", .items, .timesC(1.5)),
        row(.cursorByName, "cursor, row[\"i0\"]...row[\"i9\"]", .items, .timesC(1.4)),
        row(.playersByName, "cursor, player: six columns of four types by name", .players, .timesC(1.4)),
        row(.structsByName, "array of structs, init(row:) by name", .items, .timesC(1.4)),
        row(.structsByPosition, "array of structs, init(row:) by position", .items, .timesC(1.15)),
        row(.structsDecodable, "array of structs, Decodable", .items, .timesC(1.8)),
        row(.rowArray, "[Row], owned copies", .items, .timesC(1.6), bytes: 200),
        row(.datedPlayersByName, "array of players with a Date, by name", .players, .timesC(1.3)),
        row(.datedPlayersDecodable, "array of players with a Date, Decodable", .players, .timesC(1.6)),
        row(.stringArray, "[String]", .players, .timesC(1.15)),
        row(.intArray, "[Int]", .items, .timesC(1.15)),
        row(.optionalArray, "[Int64?]", .players, .timesC(1.15)),
        row(.insertPrepared, "insert item: prepared statement, positional arguments", 50_000, .timesC(1.3)),
        row(.insertNamed, "insert item: prepared statement, named arguments", 50_000, .timesC(1.3)),
        row(.insertItemRecord, "insert item: record with encode(to:)", 50_000, .timesC(2)),
        row(.insertItemCodable, "insert item: Codable record", 50_000, .timesC(2.5)),
        row(.updatePlayerRecord, "update player by key: record with encode(to:)", 20_000, .timesC(2)),
        row(.insertPlayerRecord, "insert player: record with encode(to:)", 50_000, .timesC(2)),
        row(.insertPlayerCodable, "insert player: Codable record", 50_000, .timesC(2.5)),
        row(.updatePlayerCodable, "update player by key: Codable record", 20_000, .timesC(2.5)),
        row(.insertUncached, "execute(sql:arguments:), uncached", 10_000, .timesC(1.2)),
        row(.insertPlayerBatch, "insert players: insertAll of Codable records", 100_000, .timesC(1.5)),
        row(.lookupKeyCodable, "Player.fetchOne(db, key:), Codable, inside one read", 20_000, .timesC(2)),
        row(.lookupKeyRecord, "Player.fetchOne(db, key:), init(row:), inside one read", 20_000, .timesC(2)),
        row(.lookupCached, "cached statement + fetchOne(statement, arguments:)", 20_000, .timesC(1.4)),
        row(.lookupSQL, "fetchOne(db, sql:arguments:), inside one read", 20_000, .timesC(1.4)),
        row(.lookupRequest, "SQLRequest(sql:arguments:cached:) + fetchOne(db)", 20_000, .timesC(1.4)),
        row(.lookupQueueRead, "one queue.read {} for each lookup", 5_000, .timesC(1.5)),
        row(.lookupPoolRead, "one pool.read {} for each lookup, sync", 5_000, .timesC(2)),
        row(.lookupPoolReadAsync, "one await pool.read {} for each lookup", 5_000, .timesC(1.5)),
        row(.lookupHot, "CachedTable, 1,000 players; C and GRDB: one read for each", 20_000, .timesC(0.25)),
        rows(.emptyQueueRead, "empty queue.read, in memory", 40_000, .timesC(4)),
        rows(.emptyQueueWrite, "empty queue.write, in memory", 40_000, .timesC(2)),
        rows(.emptyPoolRead, "empty pool.read, WAL", 20_000, .timesC(3)),
        rows(.emptyPoolWrite, "empty pool.write, WAL", 10_000, .timesC(1.3)),
        row(.emptyInDatabase, "empty queue.inDatabase: no transaction", 40_000, .nanoseconds(200)),
        row(.emptyUnsafeRead, "empty pool.unsafeRead: no transaction", 40_000, .nanoseconds(200)),
        rows(.emptyQueueReadAsync, "async empty queue read, in memory", 10_000, .timesC(3)),
        rows(.emptyQueueWriteAsync, "async empty queue write, in memory", 10_000, .timesC(3)),
        rows(.emptyPoolReadAsync, "async empty pool read", 10_000, .timesC(3)),
        rows(
            .emptyPoolReadOffloaded, "async empty pool read, offloaded", 10_000,
            .overC(nanoseconds: 2_000), at8: .timesGRDB(0.2)),
        rows(
            .emptyPoolWriteAsync, "async empty pool write", 5_000,
            .overC(nanoseconds: 2_000), at8: .timesGRDB(0.2)),
        row(.buildRequest, "build a request", 20_000, .timesGRDB(0.5)),
        row(.prepareRequest, "build a request and prepare it, C runs it too", 20_000, .timesC(2.5)),
        row(.fetchRequest, "build a request + fetchAll, no rows", 20_000, .timesC(3)),
        row(.fetchRequestRows, "same, ten rows", 5_000, .timesC(2)),
        row(.selectCached, "cachedStatement(sql:) + fetchAll(arguments:)", 20_000, .timesC(1.3)),
        row(.selectCursor, "cachedStatement(sql:) + fetchCursor(arguments:)", 20_000, .timesC(1.3)),
        row(.selectUncached, "raw SQL, uncached", 5_000, .timesC(1.2)),
        row(.selectNewText, "same, another text each time", 5_000, .timesC(1.2)),
        row(.selectInterpolated, "SQLRequest(literal:), uncached", 5_000, .timesC(1.2)),
        row(.selectInterpolatedCached, "SQLRequest(literal:cached:), C keeps it too", 20_000, .timesC(2.5)),
        row(.teamsDecodable, "teams including all members, 1,000 x 50, Decodable", 50_000, .timesC(3)),
        row(.teamsByName, "same, init(row:)", 50_000, .timesC(2)),
        row(.observeQueue, "write a row, until onChange has the new value, queue", 2_000, .timesC(2)),
        row(.observePool, "write a row, until onChange has the new value, pool", 2_000, .timesC(2)),
        row(.updateObserved, "UPDATE of 50,000 rows, 100 observations of that table", 10, .timesC(1.3)),
        row(.writeBesideObservations, "write a row, 100 observations of other tables, queue", 20_000, .timesC(1.5)),
        row(
            .writeBesideObservationsInPool, "write a row, 100 observations of other tables, pool", 10_000, .timesC(1.3)),
        row(.writeObserved, "write a row, 100 observations of that table, queue", 2_000, .timesC(3)),
        row(.writeObservedInPool, "write a row, 100 observations of that table, pool", 2_000, .timesC(3)),
        row(.writeForReaderOfTables, "write a row, 1 subscriber to commits, pool", 10_000, .timesC(1.3)),
        row(.writeForTenReadersOfTables, "write a row, 10 subscribers to commits, pool", 10_000, .timesC(1.3)),
        row(.writeForHundredReadersOfTables, "write a row, 100 subscribers to commits, pool", 10_000, .timesC(1.5)),
        row(.writeForReaderOfKeys, "write a row, 1 subscriber to changed keys, pool", 10_000, .timesC(2)),
        row(.writeForTenReadersOfKeys, "write a row, 10 subscribers to changed keys, pool", 10_000, .timesC(2)),
        row(.writeForHundredReadersOfKeys, "write a row, 100 subscribers to changed keys, pool", 10_000, .timesC(2)),
        row(.advanceOverCommits, "1,000 writes, and advance() of a stable reader with keys", 10, .timesC(2)),
        row(.migrate, "migrate(), 100 migrations applied already", 2_000, .timesC(1.5)),
        row(.openQueue, "open and close a queue", 200, .timesC(1.3)),
        row(.openPool, "open a pool, read once, close it", 100, .timesC(1.5)),
        row(.dateArray, "[Date] from text", .players, .timesC(1.5)),
        row(.uuidArray, "[UUID]", .payments, .timesC(1.2)),
        row(.decimalArray, "[Decimal] from text", .payments, .timesC(1.3)),
        row(.dataArray, "[Data]", .payments, .timesC(1.1)),
        row(.bindDate, "bind a Date", 50_000, .timesC(2)),
        row(.bindText, "bind a String of 24 bytes", 50_000, .timesC(1.5)),
        row(.importCatalog, "import of a package list, in memory", CatalogData.count, .timesC(1.5)),
        row(.importCatalogOnDisk, "same, pool on a disk", CatalogData.count, .timesC(1.5)),
        rows(.threadHop, "thread hop and back, nothing done there", 10_000, .none),
    ]

    private static func row(_ task: BenchTask, _ title: String, _ operations: Int, _ budget: Budget) -> [BenchRow] {
        row(task, title, .times(operations), budget)
    }

    private static func row(
        _ task: BenchTask, _ title: String, _ operations: OperationCount, _ budget: Budget, bytes: Double? = nil
    ) -> [BenchRow] {
        [
            BenchRow(
                task: task, clients: 0, title: title, operations: operations, budget: budget, bytesBudget: bytes)
        ]
    }

    /// A sub-row for each number of threads or tasks.
    private static func rows(
        _ task: BenchTask, _ title: String, _ operations: Int, _ budget: Budget, at8: Budget? = nil
    ) -> [BenchRow] {
        [1, 2, 8].map { clients in
            BenchRow(
                task: task, clients: clients, title: title, operations: .times(operations),
                budget: clients == 8 ? at8 ?? budget : budget, bytesBudget: nil)
        }
    }
}
