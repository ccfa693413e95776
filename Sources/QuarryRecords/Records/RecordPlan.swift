import QuarryCore
import QuarrySQL

/// The kind of a statement that writes a record or searches for it, without the record's columns.
struct WriteKind: Equatable {
    enum Verb {
        case insert, upsert, update, delete, exists
    }

    /// The values that a statement returns for the row it has written.
    enum Returning {
        case nothing, row, rowID, rowAndRowID
    }

    let verb: Verb
    var resolution = Database.ConflictResolution.abort
    var returning = Returning.nothing
    var strategy = UpsertUpdateStrategy.allColumns

    /// The clauses that plain verbs don't have.
    private struct Clauses: Equatable {
        var columns: [String]?
        var conflictTarget: [String] = []
        var assignments: UpsertAssignments?
        var returned: WrittenSQL?
    }

    /// A separate object, so that a plain kind is copied and compared at once; it never changes.
    private final class ClausesBox {
        let clauses: Clauses

        init(_ clauses: Clauses) { self.clauses = clauses }
    }

    private var box: ClausesBox?

    private var clauses: Clauses {
        get { box?.clauses ?? Clauses() }
        set { box = newValue == Clauses() ? nil : ClausesBox(newValue) }
    }

    init(
        verb: Verb, resolution: Database.ConflictResolution = .abort, columns: [String]? = nil,
        returning: Returning = .nothing, conflictTarget: [String] = [], strategy: UpsertUpdateStrategy = .allColumns
    ) {
        self.verb = verb
        self.resolution = resolution
        self.returning = returning
        self.strategy = strategy
        if columns != nil { self.columns = columns }
        if !conflictTarget.isEmpty { self.conflictTarget = conflictTarget }
    }

    /// The columns to write; nil for all columns of the record.
    var columns: [String]? {
        get { clauses.columns }
        set { clauses.columns = newValue }
    }

    /// The columns of the unique index whose conflicts an upsert resolves; empty for any index.
    var conflictTarget: [String] {
        get { clauses.conflictTarget }
        set { clauses.conflictTarget = newValue }
    }

    /// The assignments to an existing row of an upsert, in addition to the strategy's.
    var assignments: UpsertAssignments? {
        get { clauses.assignments }
        set { clauses.assignments = newValue }
    }

    /// The columns that a statement returns; nil for all.
    var returned: WrittenSQL? {
        get { clauses.returned }
        set { clauses.returned = newValue }
    }

    @inline(__always)
    static func == (lhs: WriteKind, rhs: WriteKind) -> Bool {
        lhs.verb == rhs.verb && lhs.resolution == rhs.resolution && lhs.returning == rhs.returning
            && lhs.strategy == rhs.strategy && (lhs.box === rhs.box || lhs.hasSameClauses(as: rhs))
    }

    @inline(never)
    private func hasSameClauses(as other: WriteKind) -> Bool { clauses == other.clauses }

    /// The arguments of the kind's own SQL, which follow the record's arguments.
    var arguments: [DatabaseValue] { (assignments?.sql.arguments ?? []) + (returned?.arguments ?? []) }

    /// Whether the row is found by its key.
    var needsKey: Bool {
        switch verb {
        case .insert, .upsert: false
        case .update, .delete, .exists: true
        }
    }
}

/// The statements that write and find the records of a type in one table, and the bindings of their parameters.
///
/// A statement is found by its kind and the columns that the record encodes, so its SQL is made once.
package final class RecordPlan {
    let table: String

    /// A statement that writes a record.
    final class Slot {
        let kind: WriteKind
        let statement: Statement

        /// Whether the statement writes to a view. SQLite then doesn't count the written rows.
        let isOfView: Bool

        /// For each parameter, the index of its column among the columns of the record.
        let parameters: [Int]

        /// The columns that the record encodes.
        let names: [String]

        /// The layout for encoding a record straight into the statement; nil if a column has two parameters.
        let layout: ParameterLayout?

        @exclusivity(unchecked)
        var repreparations: CInt = 0

        init(_ kind: WriteKind, _ sql: WriteSQL, names: [String], isOfView: Bool, _ db: Database) throws {
            self.kind = kind
            self.isOfView = isOfView
            self.names = names
            parameters = sql.parameters
            statement = try db.makeStatement(sql: sql.sql)
            var indexes = [CInt](repeating: 0, count: names.count)
            for (index, place) in sql.parameters.enumerated() { indexes[place] = CInt(index + 1) }
            layout =
                Set(sql.parameters).count == sql.parameters.count
                ? ParameterLayout(
                    names: names, parameters: indexes, keyStart: CInt(clamping: sql.keyStart).addingOne)
                : nil
        }
    }

    private static let maximumSlotCount = 64

    private var slots: [Slot] = []

    /// The statements of the last insert, update and deletion.
    @exclusivity(unchecked)
    private var lastInsert: Slot?
    @exclusivity(unchecked)
    private var lastUpdate: Slot?
    @exclusivity(unchecked)
    private var lastDelete: Slot?

    @exclusivity(unchecked)
    private var batch: RecordBatch?

    @exclusivity(unchecked)
    var finder: Finder?

    @exclusivity(unchecked)
    private var knownShape: TableShape?
    private var columnSet: Set<String>?

    /// Identifies the state of the schema in which the shape was read or last confirmed.
    @exclusivity(unchecked)
    var stamp = (access: -1, changes: -1, version: Int64(0))

    private let target = EncodingTarget()

    /// Whether to encode the record into memory at once, because it reads its container or sets columns twice.
    @exclusivity(unchecked)
    private var prefersMemory = false

    /// The known callbacks of the record type.
    let callbacks: DefaultCallbacks

    init(table: String, _ callbacks: DefaultCallbacks) {
        self.table = table
        self.callbacks = callbacks
    }

    // MARK: - Schema

    /// The shape of the table.
    ///
    /// - parameter sure: whether to check if another connection has changed the schema since this access began.
    package func shape(_ db: Database, sure: Bool) throws -> TableShape {
        if let knownShape, stamp.changes == db.schemaChangeCount, !sure || stamp.access == db.accessNumber {
            return knownShape
        }
        return try refreshedShape(db)
    }

    /// The shape of the table in the current schema.
    @inline(never)
    func refreshedShape(_ db: Database) throws -> TableShape {
        let version = try version(db)
        if let knownShape, stamp.changes == db.schemaChangeCount, stamp.version == version {
            stamp.access = db.accessNumber
            return knownShape
        }
        let shape = try TableShape(db, table)
        if shape != knownShape {
            forgetStatements()
            columnSet = nil
        }
        knownShape = shape
        stamp = (db.accessNumber, db.schemaChangeCount, version)
        return shape
    }

    /// Whether the schema has changed since the shape was last read or confirmed.
    func isOutdated(_ db: Database) throws -> Bool {
        let known = knownShape
        return try refreshedShape(db) !== known
    }

    /// A number that changes when another connection changes the schema.
    private func version(_ db: Database) throws -> Int64 {
        let version = try Int64(db.untraced { try db.schemaVersion() })
        // Only this connection changes `temp`.
        guard let schema = knownShape?.schema, schema != "main", schema != "temp",
            stamp.changes == db.schemaChangeCount
        else { return version }
        let other = try db.untraced { try db.schemaVersion(of: schema) }
        return version << 32 | Int64(UInt32(bitPattern: other))
    }

    /// Forgets the key that a schema source has provided for a view.
    func forgetKeyOfView() {
        if knownShape?.isView == true { stamp = (-1, -1, 0) }
    }

    private func forgetStatements() {
        slots = []
        lastInsert = nil
        lastUpdate = nil
        lastDelete = nil
        batch = nil
        finder = nil
    }

    /// The columns of the table.
    func columns(_ db: Database) throws -> Set<String> {
        let shape = try shape(db, sure: true)
        if let columnSet { return columnSet }
        let columns = Set(shape.columns)
        columnSet = columns
        return columns
    }

    /// Notes whether SQLite has prepared the statement again, because the schema has changed.
    private func check(_ slot: Slot) {
        let count = slot.statement.repreparations
        guard count != slot.repreparations else { return }
        slot.repreparations = count
        stamp = (-1, -1, 0)
    }

    // MARK: - Statements

    /// The statement for a record's columns.
    private func slot(_ kind: WriteKind, _ recorded: EncodingTarget, _ key: [Int], _ db: Database) throws -> Slot {
        if let slot = slots.first(where: { $0.kind == kind && $0.names.isSpelled(as: recorded.names) }) {
            return slot
        }
        // A kind that the known shape refuses has no statement, which would notice another connection's change.
        let shape = try shape(db, sure: true)
        let sql = try WriteSQL(kind, shape, names: recorded.names, key: key)
        let slot = try Slot(kind, sql, names: recorded.names, isOfView: shape.isView, db)
        if slots.count == Self.maximumSlotCount { slots.removeFirst() }
        slots.append(slot)
        return slot
    }

    /// Encodes a record straight into a statement, and runs it.
    ///
    /// - returns: false if the statement has not run.
    private func run(_ slot: Slot, _ record: some EncodableRecord) throws -> Bool {
        guard let layout = slot.layout else { return false }
        do {
            return try slot.statement.execute { binder in try target.bind(record, layout, binder) }
        } catch let error as DatabaseError where error.sql == slot.statement.sql {
            throw withArguments(error, slot, record)
        }
    }

    /// The error with the arguments, for which the record is encoded again.
    @inline(never)
    private func withArguments(
        _ error: DatabaseError, _ slot: Slot, _ record: some EncodableRecord
    ) -> DatabaseError {
        guard let recorded = try? EncodingTarget(recording: record), recorded.names.isSpelled(as: slot.names) else {
            return error
        }
        return error.with(slot.arguments(recorded))
    }

    /// A statement that isn't running: a trigger may call a Swift function that writes a record of the same type.
    private func freeStatement(_ slot: Slot, _ db: Database) throws -> Statement {
        slot.statement.isExecuting ? try db.makeStatement(sql: slot.statement.sql) : slot.statement
    }

    private func canBind(_ slot: Slot) -> Bool {
        !prefersMemory && !target.isBinding && !slot.statement.isExecuting
    }

    /// Encodes the record into memory, after it could not be encoded into an existing statement.
    private func recorded(_ record: some EncodableRecord, afterStraying slot: Slot?) throws -> EncodingTarget {
        let recorded = try EncodingTarget(recording: record)
        if let slot, slot.layout != nil, target.hasStrayed, recorded.names.isSpelled(as: slot.names) {
            // The columns are the same, and still the record could not be encoded into the statement.
            prefersMemory = true
        }
        return recorded
    }

    // MARK: - Writing

    /// Inserts a record.
    ///
    /// - returns: whether a row was inserted.
    func insert(_ record: some EncodableRecord, _ kind: WriteKind, _ db: Database) throws -> Bool {
        // Forgets the statements if the table has changed.
        _ = try shape(db, sure: false)
        var slot = lastInsert
        if let last = slot, last.kind == kind, canBind(last) {
            let before = last.changesBefore(db)
            if try run(last, record) { return didWrite(last, before, db) }
        } else {
            slot = nil
        }
        let recorded = try recorded(record, afterStraying: slot)
        let other = try self.slot(kind, recorded, [], db)
        let before = other.changesBefore(db)
        try freeStatement(other, db).execute(arguments: other.arguments(recorded))
        lastInsert = other
        return didWrite(other, before, db)
    }

    /// Whether a statement has written a row.
    ///
    /// - parameter before: `changesBefore` of the slot.
    @inline(__always)
    private func didWrite(_ slot: Slot, _ before: Int, _ db: Database) -> Bool {
        check(slot)
        return slot.isOfView ? db.totalChangesCount > before : db.changesCount > 0
    }

    /// The batch that inserts several records like the last one; nil if they can't be inserted together.
    func batch(_ kind: WriteKind, _ db: Database) throws -> RecordBatch? {
        guard let last = lastInsert, last.kind == kind, canBind(last) else { return nil }
        if let batch, batch.slot === last { return batch.isFree ? batch : nil }
        let shape = try shape(db, sure: false)
        guard !shape.isView, let schema = shape.schema else { return nil }
        batch = try RecordBatch(last, target, schema: schema, db)
        return batch
    }

    /// Notes that a batch was inserted.
    func check(_ batch: RecordBatch) {
        if batch.wasPreparedAgain { stamp = (-1, -1, 0) }
    }

    /// Updates or deletes the row of a record.
    ///
    /// - returns: whether the row existed.
    func write(_ record: some EncodableRecord, _ kind: WriteKind, _ db: Database) throws -> Bool {
        let shape = try shape(db, sure: true)
        var slot = kind.verb == .delete ? lastDelete : lastUpdate
        if let last = slot, last.kind == kind, canBind(last) {
            let before = last.changesBefore(db)
            if try run(last, record) { return didWrite(last, before, db) }
            if !target.hasStrayed, last.layout != nil { return false }
        } else {
            slot = nil
        }
        let recorded = try recorded(record, afterStraying: slot)
        guard let key = try key(recorded, shape) else { return false }
        let other = try self.slot(kind, recorded, key, db)
        let before = other.changesBefore(db)
        try freeStatement(other, db).execute(arguments: other.arguments(recorded))
        if kind.verb == .delete { lastDelete = other } else { lastUpdate = other }
        return didWrite(other, before, db)
    }

    /// Runs a statement that returns rows.
    ///
    /// - returns: nil if a column of the key is NULL.
    func query<Result>(
        _ record: some EncodableRecord, _ kind: WriteKind, _ db: Database,
        _ body: (Statement, StatementArguments) throws -> Result
    ) throws -> Result? {
        let shape = try shape(db, sure: true)
        let recorded = try EncodingTarget(recording: record)
        var key: [Int] = []
        if kind.needsKey {
            guard let places = try self.key(recorded, shape) else { return nil }
            key = places
        }
        let slot = try slot(kind, recorded, key, db)
        var arguments = slot.arguments(recorded)
        if !kind.arguments.isEmpty { arguments += StatementArguments(values: kind.arguments) }
        let result = try body(freeStatement(slot, db), arguments)
        check(slot)
        return result
    }

    /// The indexes of the primary key's columns among a record's columns; nil if a column is missing or NULL.
    private func key(_ recorded: EncodingTarget, _ shape: TableShape) throws -> [Int]? {
        guard !shape.primaryKey.isEmpty else { throw shape.noPrimaryKey }
        var places: [Int] = []
        for column in shape.primaryKey {
            guard let place = recorded.names.firstIndex(where: { $0.isSameName(as: column) }) else { return nil }
            guard !recorded.values[place].isNull else { return nil }
            places.append(place)
        }
        return places
    }

    /// Whether no column of a record's key is NULL.
    func hasKey(_ record: some EncodableRecord, _ db: Database) throws -> Bool {
        let shape = try shape(db, sure: true)
        return try key(EncodingTarget(recording: record), shape) != nil
    }

    /// The error for a record without a row.
    func recordNotFound(_ record: some EncodableRecord, _ db: Database) throws -> RecordError {
        let shape = try shape(db, sure: false)
        let recorded = try EncodingTarget(recording: record)
        let key = shape.primaryKey.map { column in
            let place = recorded.names.firstIndex { $0.isSameName(as: column) }
            return (column, place.map { recorded.values[$0] } ?? .null)
        }
        return .recordNotFound(databaseTableName: table, key: Dictionary(key, uniquingKeysWith: { $1 }))
    }

    /// The columns that a type selects of written rows; nil for all.
    func returned(_ selection: [SQLSelection]?, _ db: Database) throws -> WrittenSQL? {
        guard let selection else { return nil }
        guard !selection.isEmpty else {
            throw DatabaseError.misuse("a request selects nothing")
        }
        return try WrittenSQL(db) { try $0.write(returned: selection, table: table) }
    }
}

extension RecordPlan.Slot {
    /// The number of changes that tells whether a statement has written to a view; 0 for tables, which need none.
    @inline(__always)
    func changesBefore(_ db: Database) -> Int { isOfView ? db.totalChangesCount : 0 }

    /// The arguments from a record in memory.
    func arguments(_ recorded: EncodingTarget) -> StatementArguments {
        StatementArguments(values: parameters.map { recorded.values[$0] })
    }
}

extension [String] {
    fileprivate func isSpelled(as other: [String]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isSpelled(as: $1) }
    }
}

extension CInt {
    fileprivate var addingOne: CInt { self == .max ? self : self + 1 }
}
