public import QuarryCore
public import QuarrySQL

// Writes of many records: in a savepoint, so that all are written or none.

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
    /// Many records of a type without callbacks are inserted by statements of several rows. The given records don't
    /// change: use `insertAll(db, &players)` for records that take their id.
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values, and the records
    ///   are inserted one by one. nil for all.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: the number of inserted rows: fewer than there are records if conflicts are ignored.
    /// - throws: the errors of `insert`; then nothing is inserted.
    @discardableResult
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict conflictResolution: Database.ConflictResolution? = nil, columns: [String]? = nil,
        table: String? = nil
    ) throws -> Int {
        var plan = try BatchPlan(self, table, db) { $0.insertKind(conflictResolution, columns: columns) }
        return try inBatch(db) {
            // A sequence returns copies of its elements; contiguous elements are inserted without copies.
            let inserted = try records.withContiguousStorageIfAvailable { records in
                var index = 0
                return try insertAll(db, records, &plan, combinedFrom: 1, &index)
            }
            if let inserted { return inserted }
            var count = 0
            for record in records {
                if plan.isOfClass { try plan.turn(to: record, db) }
                if try insertCopy(of: record, db, plan.kind, plan.plan) { count += 1 }
            }
            return count
        }
    }

    private static func insertAll(
        _ db: Database, _ records: UnsafeBufferPointer<Self>, _ plan: inout BatchPlan<Self>, combinedFrom start: Int,
        _ index: inout Int
    ) throws -> Int {
        guard plan.isOfClass else { return try insertAll(db, records, plan.kind, plan.plan, start, &index) }
        var count = 0
        while index < records.count {
            try plan.turn(to: records[index], db)
            let end = records[index...].firstIndex { type(of: $0) != plan.type } ?? records.count
            let part = UnsafeBufferPointer(rebasing: records[index..<end])
            var partIndex = 0
            defer { index += partIndex }
            count += try insertAll(db, part, plan.kind, plan.plan, start, &partIndex)
        }
        return count
    }

    /// Inserts records with one plan.
    ///
    /// - parameter start: the index of the first record that may be inserted together with others. If it is 1, the
    ///   first record tells the plan how.
    /// - parameter index: the index of the first record; afterwards their number, or the index of the one that failed.
    private static func insertAll(
        _ db: Database, _ records: UnsafeBufferPointer<Self>, _ kind: WriteKind, _ plan: RecordPlan,
        _ start: Int, _ index: inout Int
    ) throws -> Int {
        var count = 0
        var start = start
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

    /// Inserts records in a transaction that the caller rolls back if one fails.
    ///
    /// - parameter index: the number of inserted records, if one fails.
    package static func insertStep(
        _ db: Database, _ records: [Self], onConflict conflictResolution: Database.ConflictResolution?,
        columns: [String]?, table: String?, _ index: inout Int
    ) throws -> Int {
        var plan = try BatchPlan(self, table, db) { $0.insertKind(conflictResolution, columns: columns) }
        return try records.withUnsafeBufferPointer { records in
            try insertAll(db, records, &plan, combinedFrom: 0, &index)
        }
    }

    /// Inserts records, all or none, and changes each as `insert` does: afterwards they have their ids.
    ///
    /// ```swift
    /// var players = [Player(id: nil, name: "Arthur"), Player(id: nil, name: "Barbara")]
    /// try Player.insertAll(db, &players)
    /// players.map(\.id) // [1, 2]
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter columns: the names of the columns to insert: the others get their default values, and the records
    ///   are inserted one by one. nil for all.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: the number of inserted rows.
    /// - throws: the errors of `insert`; then nothing is inserted, and the records are unchanged.
    @discardableResult
    public static func insertAll<Records: MutableCollection<Self>>(
        _ db: Database, _ records: inout Records,
        onConflict conflictResolution: Database.ConflictResolution? = nil, columns: [String]? = nil,
        table: String? = nil
    ) throws -> Int {
        var plan = try BatchPlan(self, table, db) { $0.insertKind(conflictResolution, columns: columns) }
        var changed = records
        let count = try inBatch(db) {
            var count = 0
            for index in changed.indices {
                if plan.isOfClass { try plan.turn(to: changed[index], db) }
                if try changed[index].insert(db, plan.kind, plan.plan) { count += 1 }
            }
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
    /// - throws: the errors of `upsert`; then nothing is written.
    public static func upsertAll(_ db: Database, _ records: some Sequence<Self>, table: String? = nil) throws {
        var plan = try BatchPlan(self, table, db) { $0.upsertKind }
        _ = try inBatch(db) {
            for var record in records {
                if plan.isOfClass { try plan.turn(to: record, db) }
                try record.upsert(db, plan.kind, plan.plan)
            }
            return 0
        }
    }

    /// Upserts records in a transaction that the caller rolls back if one fails.
    ///
    /// - parameter index: the number of upserted records, if one fails.
    package static func upsertStep(
        _ db: Database, _ records: [Self], table: String?, _ index: inout Int
    ) throws -> Int {
        var plan = try BatchPlan(self, table, db) { $0.upsertKind }
        for var record in records {
            if plan.isOfClass { try plan.turn(to: record, db) }
            try record.upsert(db, plan.kind, plan.plan)
            index += 1
        }
        return records.count
    }

    /// Upserts records, all or none, and changes each as `upsert` does: afterwards they have their ids.
    ///
    /// ```swift
    /// var players = [Player(id: nil, name: "Arthur")]
    /// try Player.upsertAll(db, &players)
    /// players[0].id // 1
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: the errors of `upsert`; then nothing is written, and the records are unchanged.
    public static func upsertAll<Records: MutableCollection<Self>>(
        _ db: Database, _ records: inout Records, table: String? = nil
    ) throws {
        var plan = try BatchPlan(self, table, db) { $0.upsertKind }
        var changed = records
        _ = try inBatch(db) {
            for index in changed.indices {
                if plan.isOfClass { try plan.turn(to: changed[index], db) }
                try changed[index].upsert(db, plan.kind, plan.plan)
            }
            return 0
        }
        records = changed
    }
}

/// The plan for the records of a batch, which may belong to several subclasses.
private struct BatchPlan<Record: MutablePersistableRecord> {
    let isOfClass: Bool
    private(set) var type: Record.Type
    private(set) var plan: RecordPlan
    private(set) var kind: WriteKind

    private let makeKind: (Record.Type) -> WriteKind
    private let table: String?

    init(
        _ type: Record.Type, _ table: String?, _ db: Database, kind: @escaping (Record.Type) -> WriteKind
    ) throws {
        isOfClass = type is any AnyObject.Type
        self.type = type
        self.table = table
        makeKind = kind
        self.kind = kind(type)
        plan = try RecordPlans.plan(type, table, db)
    }

    /// Switches to the plan of a record's class.
    mutating func turn(to record: Record, _ db: Database) throws {
        guard Swift.type(of: record) != type else { return }
        type = Swift.type(of: record)
        kind = makeKind(type)
        plan = try RecordPlans.plan(type, table, db)
    }
}

extension TableRecord {
    /// Sets columns of all rows to the values of a record.
    ///
    /// ```swift
    /// let model = Player(id: nil, name: "", score: 0, teamId: nil)
    /// try Player.updateAll(db, set: ["score", "teamId"], from: model)
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = 0, "teamId" = NULL
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution.
    /// - parameter columns: columns of the record and of the table.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: the number of rows.
    /// - throws: `DatabaseError`, also for a column that the record or the table doesn't have.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution = .abort,
        set columns: some Collection<String>, from record: some EncodableRecord, table: String? = nil
    ) throws -> Int {
        guard !columns.isEmpty else { return 0 }
        let plan = try RecordPlans.plan(self, table, db)
        let recorded = try EncodingTarget(recording: record)
        let values = try columns.map { column in
            guard let place = recorded.names.firstIndex(where: { $0.isSameName(as: column) }) else {
                throw DatabaseError.misuse(
                    "the record has no column \(String(reflecting: column)) of table \(plan.table)")
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
