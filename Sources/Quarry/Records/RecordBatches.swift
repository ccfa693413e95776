public import QuarryCore
public import QuarrySQL

// Many records at once: in a savepoint, so that all are written or none.

extension MutablePersistableRecord {
    private static func inBatch(_ db: Database, _ body: () throws -> Int) throws -> Int {
        var count = 0
        try db.inSavepoint {
            count = try body()
            return .commit
        }
        return count
    }

    /// Inserts records, all or none.
    ///
    /// ```swift
    /// try Player.insertAll(db, players)
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur')
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Barbara')
    /// ```
    ///
    /// Many records of a type without callbacks are inserted by statements of several rows. The records that were given
    /// stay as they are: use `insertAll(db, &players)` for those that learn their id.
    ///
    /// - parameter conflictResolution: what to do on a conflict; nil for what the type's policy says.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: how many rows were inserted: less than there are records where conflicts are ignored.
    /// - throws: as `insert`; then nothing is inserted.
    @discardableResult
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Int {
        let plan = try RecordPlans.plan(Self.self, table, db)
        let kind = insertKind(conflictResolution)
        return try inBatch(db) {
            var count = 0
            // A sequence gives copies of its elements; where they lie side by side, they are inserted from there.
            let inserted = try records.withContiguousStorageIfAvailable { try insertAll(db, $0, kind, plan) }
            if let inserted { return inserted }
            for record in records where try insertCopy(of: record, db, kind, plan) { count += 1 }
            return count
        }
    }

    private static func insertAll(
        _ db: Database, _ records: UnsafeBufferPointer<Self>, _ kind: WriteKind, _ plan: RecordPlan
    ) throws -> Int {
        var count = 0
        var index = 0
        // Where those begin that may be inserted together: the first one tells the plan how.
        var start = 1
        while index < records.count {
            if index >= start, plan.callbacks.known.isSuperset(of: .inserts),
                let batch = try plan.batch(kind, db), batch.size <= records.count - index
            {
                let part = UnsafeBufferPointer(rebasing: records[index..<index + batch.size])
                if let inserted = try batch.insert(part, db) {
                    plan.check(batch)
                    count += inserted
                    index += batch.size
                    continue
                }
                start = index + batch.size
            }
            if try insertCopy(of: records[index], db, kind, plan) { count += 1 }
            index += 1
        }
        return count
    }

    /// Inserts records, all or none, and changes each as `insert` does: they have their ids then.
    ///
    /// ```swift
    /// var players = [Player(id: nil, name: "Arthur"), Player(id: nil, name: "Barbara")]
    /// try Player.insertAll(db, &players)
    /// players.map(\.id) // [1, 2]
    /// ```
    ///
    /// - parameter conflictResolution: what to do on a conflict; nil for what the type's policy says.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: how many rows were inserted.
    /// - throws: as `insert`; then nothing is inserted, and the records are as they were.
    @discardableResult
    public static func insertAll<Records: MutableCollection<Self>>(
        _ db: Database, _ records: inout Records,
        onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Int {
        let plan = try RecordPlans.plan(Self.self, table, db)
        let kind = insertKind(conflictResolution)
        var changed = records
        let count = try inBatch(db) {
            var count = 0
            for index in changed.indices where try changed[index].insert(db, kind, plan) { count += 1 }
            return count
        }
        records = changed
        return count
    }

    /// Upserts records, all or none.
    ///
    /// ```swift
    /// try Player.upsertAll(db, [Player(id: 1, name: "Arthur"), Player(id: 2, name: "Barbara")])
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (1,'Arthur')
    /// ON CONFLICT DO UPDATE SET "name" = "excluded"."name" RETURNING "rowid"
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: as `upsert`; then nothing is written.
    public static func upsertAll(_ db: Database, _ records: some Sequence<Self>, table: String? = nil) throws {
        let plan = try RecordPlans.plan(Self.self, table, db)
        _ = try inBatch(db) {
            for var record in records { try record.upsert(db, upsertKind, plan) }
            return 0
        }
    }

    /// Upserts records, all or none, and changes each as `upsert` does: they have their ids then.
    ///
    /// ```swift
    /// var players = [Player(id: nil, name: "Arthur")]
    /// try Player.upsertAll(db, &players)
    /// players[0].id // 1
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: as `upsert`; then nothing is written, and the records are as they were.
    public static func upsertAll<Records: MutableCollection<Self>>(
        _ db: Database, _ records: inout Records, table: String? = nil
    ) throws {
        let plan = try RecordPlans.plan(Self.self, table, db)
        var changed = records
        _ = try inBatch(db) {
            for index in changed.indices { try changed[index].upsert(db, upsertKind, plan) }
            return 0
        }
        records = changed
    }
}

extension TableRecord {
    /// Sets columns of all rows to the values that a record has.
    ///
    /// ```swift
    /// let model = Player(id: nil, name: "", score: 0, teamId: nil)
    /// try Player.updateAll(db, set: ["score", "teamId"], from: model)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = 0, "teamId" = NULL
    /// ```
    ///
    /// - parameter conflictResolution: what to do on a conflict.
    /// - parameter columns: columns of the record and of the table.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: how many rows there are.
    /// - throws: `DatabaseError`, also for a column that the record or the table hasn't.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution = .abort,
        set columns: some Collection<String>, from record: some EncodableRecord, table: String? = nil
    ) throws -> Int {
        guard !columns.isEmpty else { return 0 }
        let plan = try RecordPlans.plan(Self.self, table, db)
        let recorded = try EncodingTarget(recording: record)
        let values = try columns.map { column in
            guard let place = recorded.names.firstIndex(where: { $0.isSameName(as: column) }) else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "the record has no column \(String(reflecting: column)) of table \(plan.table)")
            }
            return recorded.values[place]
        }
        let assignments = columns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: ", ")
        try db.execute(
            sql: "UPDATE \(conflictResolution.insertedSQL)\(plan.table.quotedDatabaseIdentifier) SET \(assignments)",
            arguments: StatementArguments(values: values))
        return db.changesCount
    }
}
