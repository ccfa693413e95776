public import QuarryCore
public import QuarrySQL

extension MutablePersistableRecord {
    static func insertKind(
        _ conflictResolution: Database.ConflictResolution?, columns: [String]? = nil
    ) -> WriteKind {
        WriteKind(
            verb: .insert,
            resolution: conflictResolution ?? persistenceConflictPolicy.conflictResolutionForInsert, columns: columns)
    }

    /// Inserts the record, and calls the callbacks.
    mutating func insert(_ db: Database, _ kind: WriteKind, _ table: String?) throws -> Bool {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        return try insert(db, kind, plan)
    }

    mutating func insert(_ db: Database, _ kind: WriteKind, _ plan: RecordPlan) throws -> Bool {
        let known = plan.callbacks.known
        guard known.isSuperset(of: .aroundInserts) else { return try insertWithAllCallbacks(db, kind, plan) }
        if !known.contains(.willSave) { try willSave(db) }
        let isInserted: Bool
        if known.contains(.willInsert) {
            isInserted = try plan.insert(self, kind, db)
            try callDidInsert(isInserted, known, plan, db)
        } else {
            // The record stays unchanged if the insert fails.
            var record = self
            try record.willInsert(db)
            isInserted = try plan.insert(record, kind, db)
            try record.callDidInsert(isInserted, known, plan, db)
            self = record
        }
        return isInserted
    }

    private mutating func insertWithAllCallbacks(
        _ db: Database, _ kind: WriteKind, _ plan: RecordPlan
    ) throws -> Bool {
        try saving(db) { record in try plan.insertion(record, isInserted: plan.insert(record, kind, db), db) }
            .isInserted
    }

    /// Calls the callbacks after an insert, except those that do nothing.
    @inline(__always)
    private mutating func callDidInsert(
        _ isInserted: Bool, _ known: DefaultCallbacks.Callbacks, _ plan: RecordPlan, _ db: Database
    ) throws {
        let callsDidInsert = isInserted && !known.contains(.didInsert)
        if !callsDidInsert, known.contains(.didSave) { return }
        let inserted = try plan.insertion(self, isInserted: isInserted, db)
        if callsDidInsert { didInsert(inserted) }
        if !known.contains(.didSave) { didSave(PersistenceSuccess(inserted)) }
    }

    /// Inserts a copy of the record, which stays unchanged.
    @inline(__always)
    static func insertCopy(
        of record: Self, _ db: Database, _ kind: WriteKind, _ plan: RecordPlan
    ) throws -> Bool {
        if plan.callbacks.known.isSuperset(of: .inserts) { return try plan.insert(record, kind, db) }
        var record = record
        return try record.insert(db, kind, plan)
    }

    /// Inserts the record, calls the callbacks, and returns the row.
    mutating func insertAndFetch<T>(
        _ db: Database, _ kind: WriteKind, _ table: String?, _ fetching: Fetching<T>
    ) throws -> T {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        let kind = try fetching.kind(kind, plan, db)
        var fetched: T?
        _ = try saving(db) { record in
            fetched = try plan.insertAndFetch(record, kind, db, fetching)
            return try plan.insertion(record, isInserted: true, db)
        }
        guard let fetched else { throw try plan.recordNotFound(self, db) }
        return fetched
    }

    // MARK: - Insert

    /// Inserts the record.
    ///
    /// ```swift
    /// var player = Player(id: nil, name: "Arthur", score: 10)
    /// try player.insert(db)
    /// player.id // 1
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name", "score") VALUES (NULL,'Arthur',10)
    /// ```
    ///
    /// With `.ignore`, a conflict inserts nothing. Then `didInsert` isn't called, and the id doesn't change. Use
    /// `insertOrIgnore` to find out whether a row was inserted.
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`, for example for a violated constraint; the error of a callback.
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws {
        _ = try insert(db, type(of: self).insertKind(conflictResolution), table)
    }

    /// Inserts the record, unless it conflicts with an existing row.
    ///
    /// ```swift
    /// if try player.insertOrIgnore(db) { print("a new player") }
    /// ```
    /// ```sql
    /// INSERT OR IGNORE INTO "player" ("id", "name", "score") VALUES (NULL,'Arthur',10)
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: whether a row was inserted. Otherwise `didInsert` isn't called.
    /// - throws: `DatabaseError`; the error of a callback.
    @discardableResult
    public mutating func insertOrIgnore(_ db: Database, table: String? = nil) throws -> Bool {
        try insert(db, type(of: self).insertKind(.ignore), table)
    }

    /// Inserts some columns of the record: the other columns get their default values.
    ///
    /// ```swift
    /// try player.insert(db, columns: ["name"])
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("name") VALUES ('Arthur')
    /// ```
    ///
    /// - throws: `DatabaseError`, also for a column that the record or the table doesn't have; the error of a callback.
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, table: String? = nil
    ) throws {
        _ = try insert(db, type(of: self).insertKind(conflictResolution, columns: Array(columns)), table)
    }

    /// Inserts some columns of the record: the other columns get their default values.
    ///
    /// - throws: `DatabaseError`, also for a column that the record or the table doesn't have; the error of a callback.
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>, table: String? = nil
    ) throws {
        try insert(db, onConflict: conflictResolution, columns: columns.map(\.name), table: table)
    }

    /// Inserts a copy of the record, and returns it, with its id.
    ///
    /// ```swift
    /// let player = try Player(id: nil, name: "Arthur").inserted(db)
    /// ```
    ///
    /// - throws: the errors of `insert`.
    public func inserted(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Self {
        var record = self
        try record.insert(db, onConflict: conflictResolution, table: table)
        return record
    }

    // MARK: - Insert and fetch

    /// Inserts the record, and returns the stored row, with default values and generated columns.
    ///
    /// ```swift
    /// // CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER DEFAULT 100)
    /// struct NewPlayer: Codable, PersistableRecord {
    ///     static let databaseTableName = "player"
    ///     var name: String
    /// }
    /// let player = try NewPlayer(name: "Arthur").insertAndFetch(db, as: Player.self)
    /// player.score // 100
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING *
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_returning.html>.
    ///
    /// - throws: `DatabaseError`; `RecordError.recordNotFound` if a conflict was ignored, and nothing inserted.
    public func insertAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.insertAndFetch(db, onConflict: conflictResolution, as: type(of: self), table: table)
    }

    /// Inserts the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `insert`; `RecordError.recordNotFound` if a conflict was ignored, and nothing inserted;
    ///   the error of decoding the row.
    public mutating func insertAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil
    ) throws -> T {
        try insertAndFetch(db, type(of: self).insertKind(conflictResolution), table, Fetching(returnedType))
    }

    /// Inserts the record, and calls a closure with a statement that returns columns of the row.
    ///
    /// ```swift
    /// let score = try player.insertAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } // Int?
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING "score"
    /// ```
    ///
    /// - parameter selection: the columns.
    /// - parameter fetch: takes the statement, and runs it.
    /// - throws: `DatabaseError`; the errors of `fetch` and of callbacks.
    public mutating func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        try withoutActuallyEscaping(fetch) { fetch in
            try insertAndFetch(db, type(of: self).insertKind(conflictResolution), table, Fetching(selection, fetch))
        }
    }

    /// Inserts the record, and calls a closure with a statement that returns columns of the row; another closure
    /// chooses them.
    ///
    /// ```swift
    /// let score = try player.insertAndFetch(db) { statement in
    ///     try Int.fetchOne(statement) // Int?
    /// } select: { [$0.score] }
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING "score"
    /// ```
    ///
    /// - parameter fetch: takes the statement, and runs it.
    /// - parameter selection: takes the columns of the type.
    /// - throws: `DatabaseError`; the errors of the closures and of callbacks.
    public mutating func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        fetch: (Statement) throws -> T, select selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, table: table, selection: selection(Self.databaseComponents),
            fetch: fetch)
    }
}

/// The values that a statement with RETURNING returns for a written row.
struct Fetching<Value> {
    private let selection: [SQLSelection]?
    private let fetch: (Statement, StatementArguments) throws -> Value?

    /// A record.
    ///
    /// - parameter type: may be a subclass.
    init(_ type: Value.Type) where Value: FetchableRecord {
        func fetching<Record: FetchableRecord>(subclass type: Record.Type) -> Fetching {
            Fetching(selection: Record.recordSelection) { try Record.fetchOne($0, arguments: $1) as? Value }
        }
        if type == Value.self {
            self.init(selection: Value.recordSelection) { try Value.fetchOne($0, arguments: $1) }
        } else {
            let subclass: any FetchableRecord.Type = type
            self = fetching(subclass: subclass)
        }
    }

    private init(
        selection: [SQLSelection]?, fetch: @escaping (Statement, StatementArguments) throws -> Value?
    ) {
        self.selection = selection
        self.fetch = fetch
    }

    /// Some columns.
    init(_ selection: [any SQLSelectable], _ fetch: @escaping (Statement) throws -> Value) {
        self.selection = selection.map(\.sqlSelection)
        self.fetch = { statement, arguments in
            try statement.setArguments(arguments)
            return try fetch(statement)
        }
    }

    /// The statement that returns the columns.
    func kind(
        _ kind: WriteKind, returning: WriteKind.Returning = .row, _ plan: RecordPlan, _ db: Database
    ) throws -> WriteKind {
        var kind = kind
        kind.returning = returning
        kind.returned = try plan.returned(selection, db)
        return kind
    }

    func callAsFunction(_ statement: Statement, _ arguments: StatementArguments) throws -> Value? {
        try fetch(statement, arguments)
    }
}

extension RecordPlan {
    /// The result of the insert that has just run.
    func insertion(_ record: some EncodableRecord, isInserted: Bool, _ db: Database) throws -> InsertionSuccess {
        let shape = try shape(db, sure: false)
        return InsertionSuccess(
            rowID: shape.hasRowID ? db.lastInsertedRowID : 0, rowIDColumn: shape.rowIDColumn, isInserted: isInserted,
            record: PersistedRecord(record, callbacks))
    }

    /// Inserts a record, and returns the row.
    func insertAndFetch<T>(
        _ record: some EncodableRecord, _ kind: WriteKind, _ db: Database, _ fetching: Fetching<T>
    ) throws -> T {
        let fetched = try query(record, kind, db) { try fetching($0, $1) }
        guard let fetched = fetched ?? nil else { throw try recordNotFound(record, db) }
        return fetched
    }
}

extension PersistableRecord {
    /// Inserts the record.
    ///
    /// ```sql
    /// INSERT INTO "player" ("id", "name", "score") VALUES (1,'Arthur',10)
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the type's policy.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`, for example for a violated constraint; the error of a callback.
    public func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil
    ) throws {
        let plan = try RecordPlans.plan(type(of: self), table, db)
        _ = try Self.insertCopy(of: self, db, type(of: self).insertKind(conflictResolution), plan)
    }

    /// Inserts the record, unless it conflicts with an existing row.
    ///
    /// - returns: whether a row was inserted.
    /// - throws: `DatabaseError`; the error of a callback.
    @discardableResult
    public func insertOrIgnore(_ db: Database, table: String? = nil) throws -> Bool {
        var record = self
        return try record.insert(db, type(of: self).insertKind(.ignore), table)
    }

    /// Inserts some columns of the record: the other columns get their default values.
    ///
    /// - throws: `DatabaseError`, also for a column that the record or the table doesn't have; the error of a callback.
    public func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, table: String? = nil
    ) throws {
        var record = self
        _ = try record.insert(db, type(of: self).insertKind(conflictResolution, columns: Array(columns)), table)
    }

    /// Inserts some columns of the record: the other columns get their default values.
    ///
    /// - throws: `DatabaseError`, also for a column that the record or the table doesn't have; the error of a callback.
    public func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>, table: String? = nil
    ) throws {
        try insert(db, onConflict: conflictResolution, columns: columns.map(\.name), table: table)
    }

    /// Inserts the record, and returns the stored row as another type.
    ///
    /// - throws: the errors of `insert`; `RecordError.recordNotFound` if a conflict was ignored, and nothing inserted;
    ///   the error of decoding the row.
    public func insertAndFetch<T: FetchableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, as returnedType: T.Type,
        table: String? = nil
    ) throws -> T {
        var record = self
        return try record.insertAndFetch(
            db, type(of: self).insertKind(conflictResolution), table, Fetching(returnedType))
    }

    /// Inserts the record, and calls a closure with a statement that returns columns of the row.
    ///
    /// ```swift
    /// let score = try player.insertAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } // Int?
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING "score"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_returning.html>.
    ///
    /// - parameter selection: the columns.
    /// - parameter fetch: takes the statement, and runs it.
    /// - throws: `DatabaseError`; the errors of `fetch` and of callbacks.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        var record = self
        return try withoutActuallyEscaping(fetch) { fetch in
            try record.insertAndFetch(
                db, type(of: self).insertKind(conflictResolution), table, Fetching(selection, fetch))
        }
    }

    /// Inserts the record, and calls a closure with a statement that returns columns of the row; another closure
    /// chooses them.
    ///
    /// ```swift
    /// let score = try player.insertAndFetch(db) { statement in
    ///     try Int.fetchOne(statement) // Int?
    /// } select: { [$0.score] }
    /// ```
    /// ```sql
    /// INSERT INTO "player" ("id", "name") VALUES (NULL,'Arthur') RETURNING "score"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_returning.html>.
    ///
    /// - parameter fetch: takes the statement, and runs it.
    /// - parameter selection: takes the columns of the type.
    /// - throws: `DatabaseError`; the errors of the closures and of callbacks.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, table: String? = nil,
        fetch: (Statement) throws -> T, select selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, table: table, selection: selection(Self.databaseComponents),
            fetch: fetch)
    }
}
