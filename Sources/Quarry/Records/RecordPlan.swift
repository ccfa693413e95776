import QuarryCore
import QuarrySQL

/// The statements that write and find the records of a type in one table, and the bindings of their parameters.
///
/// A statement is found by its kind and the columns that the record encodes, so its SQL is made once.
final class RecordPlan {
    let table: String

    /// A statement that writes a record.
    final class Slot {
        let kind: WriteKind
        let statement: Statement

        /// For each parameter, the index of its column among the columns of the record.
        let parameters: [Int]

        /// The columns that the record encodes.
        let names: [String]

        /// The layout for encoding a record straight into the statement; nil if a column has two parameters.
        let layout: ParameterLayout?

        @exclusivity(unchecked)
        var repreparations: CInt = 0

        init(_ kind: WriteKind, _ sql: WriteSQL, names: [String], _ db: Database) throws {
            self.kind = kind
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
    private var finder: Finder?

    /// Finds a row by its key.
    private struct Finder {
        let statement: Statement
        /// The arguments of the selected columns.
        let arguments: [DatabaseValue]
        var repreparations: CInt = 0

        @inline(__always)
        func arguments(_ key: DatabaseValue) -> StatementArguments {
            StatementArguments(values: arguments.isEmpty ? [key] : arguments + [key])
        }
    }

    @exclusivity(unchecked)
    private var knownShape: TableShape?
    private var columnSet: Set<String>?

    /// Identifies the state of the schema in which the shape was read or last confirmed.
    @exclusivity(unchecked)
    private var stamp = (access: -1, changes: -1, version: Int64(0))

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
    func shape(_ db: Database, sure: Bool) throws -> TableShape {
        if let knownShape, stamp.changes == db.schemaChangeCount, !sure || stamp.access == db.accessNumber {
            return knownShape
        }
        return try refreshedShape(db)
    }

    @inline(never)
    private func refreshedShape(_ db: Database) throws -> TableShape {
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

    /// A number that changes when another connection changes the schema.
    private func version(_ db: Database) throws -> Int64 {
        let version = try Int64(db.schemaVersion())
        // Only this connection changes `temp`.
        guard let schema = knownShape?.schema, schema != "main", schema != "temp",
            stamp.changes == db.schemaChangeCount
        else { return version }
        return try version << 32 | Int64(UInt32(bitPattern: db.schemaVersion(of: schema)))
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
        let shape = try shape(db, sure: false)
        let sql = try WriteSQL(kind, shape, names: recorded.names, key: key)
        let slot = try Slot(kind, sql, names: recorded.names, db)
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
        let shape = try shape(db, sure: false)
        let before = shape.isView ? db.totalChangesCount : 0
        var slot = lastInsert
        if let last = slot, last.kind == kind, canBind(last) {
            if try run(last, record) { return didInsert(shape, before, last, db) }
        } else {
            slot = nil
        }
        let recorded = try recorded(record, afterStraying: slot)
        let other = try self.slot(kind, recorded, [], db)
        try freeStatement(other, db).execute(arguments: other.arguments(recorded))
        lastInsert = other
        return didInsert(shape, before, other, db)
    }

    @inline(__always)
    private func didInsert(_ shape: TableShape, _ before: Int, _ slot: Slot, _ db: Database) -> Bool {
        check(slot)
        return shape.isView ? db.totalChangesCount > before : db.changesCount > 0
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
        let before = shape.isView ? db.totalChangesCount : 0
        var slot = kind.verb == .delete ? lastDelete : lastUpdate
        if let last = slot, last.kind == kind, canBind(last) {
            if try run(last, record) { return didWrite(shape, before, last, db) }
            if !target.hasStrayed, last.layout != nil { return false }
        } else {
            slot = nil
        }
        let recorded = try recorded(record, afterStraying: slot)
        guard let key = try key(recorded, shape) else { return false }
        let other = try self.slot(kind, recorded, key, db)
        try freeStatement(other, db).execute(arguments: other.arguments(recorded))
        if kind.verb == .delete { lastDelete = other } else { lastUpdate = other }
        return didWrite(shape, before, other, db)
    }

    @inline(__always)
    private func didWrite(_ shape: TableShape, _ before: Int, _ slot: Slot, _ db: Database) -> Bool {
        check(slot)
        return shape.isView ? db.totalChangesCount > before : db.changesCount > 0
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
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "a request selects nothing")
        }
        return try WrittenSQL(db) { try $0.write(returned: selection, table: table) }
    }

    // MARK: - Finding

    /// The only column of the primary key.
    func keyColumn(_ db: Database) throws -> String {
        let shape = try shape(db, sure: false)
        let key = shape.primaryKey
        guard key.count == 1 else {
            let columns = key.map { String(reflecting: $0) }.joined(separator: ", ")
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: key.isEmpty
                    ? "\(shape.isView ? "view" : "table") \(table) has no primary key"
                    : "the primary key of table \(table) has several columns, \(columns): give a value for each")
        }
        return key[0]
    }

    /// The row with a value of the primary key, as a record.
    func find<Record: RowDecodable>(_ value: DatabaseValue, _ db: Database) throws -> Record? {
        let column = try keyColumn(db)
        guard let finder, !finder.statement.isExecuting else { return try findFirst(column, value, db) }
        let record = try Record.fetchOne(finder.statement, arguments: finder.arguments(value))
        if finder.statement.repreparations == finder.repreparations { return record }
        // The schema has changed: the column may no longer be the key.
        stamp = (-1, -1, 0)
        self.finder?.repreparations = finder.statement.repreparations
        return try keyColumn(db) == column ? record : find(value, db)
    }

    @inline(never)
    private func findFirst<Record: RowDecodable>(
        _ column: String, _ value: DatabaseValue, _ db: Database
    ) throws -> Record? {
        let selected = try returned(Record.recordSelection, db)
        let finder = Finder(
            statement: try db.makeStatement(
                sql: "SELECT \(selected?.text ?? "*") FROM \(table.quotedDatabaseIdentifier) "
                    + "WHERE \(column.quotedDatabaseIdentifier) = ?"),
            arguments: selected?.arguments ?? [])
        let record = try Record.fetchOne(finder.statement, arguments: finder.arguments(value))
        if self.finder == nil {
            self.finder = finder
            self.finder?.repreparations = finder.statement.repreparations
        }
        return record
    }
}

extension RowDecodable {
    /// The columns that requests for the type select; nil for all.
    static var recordSelection: [SQLSelection]? { (Self.self as? any TableRecord.Type)?.selection }
}

extension RecordPlan.Slot {
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
