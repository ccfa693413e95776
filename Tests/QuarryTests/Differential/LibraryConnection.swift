import Quarry

/// A connection of the library, which runs statements in each of its ways.
struct LibraryConnection {
    /// How a statement is run.
    enum Way: String, CaseIterable {
        case execute
        case executeLiteral
        case keptExecute
        case fetchAll
        case fetchAllKept
        case fetchAllLiteral
        case cursor
        case cursorOfKept
        case cursorOfMade
        case typedColumns
        case untypedColumns
        case records
        case firstColumn
        case firstRow
        case allStatements
        case cursorLeftHalfway
    }

    let db: Database

    /// - parameter expected: what the C API has said of it, which gives the types of the columns that are asked for.
    func run(_ statement: RandomStatement, _ way: Way, expected: SQLiteOutcome) -> SQLiteOutcome {
        var outcome = SQLiteOutcome()
        do {
            try run(statement, way, expected, &outcome)
        } catch let error as DatabaseError {
            outcome.failure = SQLiteOutcome.Failure(
                code: error.extendedResultCode.rawValue, message: error.message ?? "")
            // A caller gets no rows where an error is thrown.
            (outcome.rows, outcome.columns) = (nil, nil)
        } catch {
            outcome.failure = SQLiteOutcome.Failure(code: -1, message: "\(error)")
        }
        outcome.changes = db.changesCount
        outcome.totalChanges = db.totalChangesCount
        outcome.lastRowID = db.lastInsertedRowID
        outcome.isAutocommit = !db.isInsideTransaction
        return outcome
    }

    private func run(
        _ statement: RandomStatement, _ way: Way, _ expected: SQLiteOutcome, _ outcome: inout SQLiteOutcome
    ) throws {
        let sql = statement.sql
        let arguments = StatementArguments(statement.arguments.map(\.databaseValue))
        switch way {
        case .execute: try db.execute(sql: sql, arguments: arguments)
        case .executeLiteral: try db.execute(literal: SQL(sql: sql, arguments: arguments))
        case .keptExecute: try db.cachedStatement(sql: sql).execute(arguments: arguments)
        case .fetchAll: collect(try Row.fetchAll(db, sql: sql, arguments: arguments), &outcome)
        case .fetchAllKept:
            collect(try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments), &outcome)
        case .fetchAllLiteral:
            collect(try SQLRequest<Row>(literal: SQL(sql: sql, arguments: arguments)).fetchAll(db), &outcome)
        case .cursor:
            let cursor = try Row.fetchCursor(db, sql: sql, arguments: arguments)
            try collect(cursor, &outcome)
        case .cursorOfKept:
            let kept = try db.cachedStatement(sql: sql)
            try collect(Row.fetchCursor(kept, arguments: arguments), &outcome)
            outcome.columns = kept.columnNames
        case .cursorOfMade:
            let made = try db.makeStatement(sql: sql)
            made.arguments = arguments
            try collect(Row.fetchCursor(made), &outcome)
            outcome.columns = made.columnNames
        case .typedColumns:
            let cursor = try Row.fetchCursor(db, sql: sql, arguments: arguments)
            outcome.rows = []
            while let row = try cursor.next() {
                let number = outcome.rows?.count ?? 0
                let types = expected.rows.flatMap { $0.indices.contains(number) ? $0[number] : nil } ?? []
                let values = try (0..<row.count).map { index in
                    try typed(row, index, like: types.indices.contains(index) ? types[index] : .null)
                }
                outcome.rows?.append(values)
            }
        case .untypedColumns:
            let rows = try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
            outcome.rows = rows.map { row in
                (0..<row.count).map { index in
                    let value: (any DatabaseValueConvertible)? = row[index]
                    return ExactValue(value?.databaseValue ?? .null)
                }
            }
        case .records:
            outcome.rows = try PlainRecord.fetchAll(db, sql: sql, arguments: arguments).map(\.values)
        case .firstColumn:
            let values = try DatabaseValue.fetchAll(db, sql: sql, arguments: arguments)
            outcome.rows = zip(values, expected.rows ?? []).map { value, row in
                row.isEmpty ? [] : [ExactValue(value)] + row.dropFirst()
            }
            if values.count != expected.rows?.count { outcome.rows = values.map { [ExactValue($0)] } }
        case .firstRow:
            let row = try Row.fetchOne(db, sql: sql, arguments: arguments)
            outcome.rows = (row.map { [$0] } ?? []).map { $0.databaseValues.map(ExactValue.init) }
            outcome.rows?.append(contentsOf: (expected.rows ?? []).dropFirst())
        case .allStatements:
            let statements = try db.allStatements(sql: sql, arguments: arguments)
            while let next = try statements.next() { collect(try Row.fetchAll(next), &outcome) }
        case .cursorLeftHalfway:
            let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
            outcome.rows = []
            if let row = try cursor.next() { outcome.rows?.append(row.databaseValues.map(ExactValue.init)) }
            outcome.rows?.append(contentsOf: (expected.rows ?? []).dropFirst())
        }
    }

    private func collect(_ rows: [Row], _ outcome: inout SQLiteOutcome) {
        outcome.rows = rows.map { $0.databaseValues.map(ExactValue.init) }
        if let row = rows.last { outcome.columns = Array(row.columnNames) }
    }

    private func collect(_ cursor: FetchCursor<Row>, _ outcome: inout SQLiteOutcome) throws {
        outcome.rows = []
        while let row = try cursor.next() {
            outcome.rows?.append(row.databaseValues.map(ExactValue.init))
            outcome.columns = Array(row.columnNames)
        }
    }

    /// A column as the type it has.
    private func typed(_ row: Row, _ index: Int, like value: ExactValue) throws -> ExactValue {
        switch value {
        case .null: return try row.decode(Int64?.self, atIndex: index).map { .integer($0) } ?? .null
        case .integer: return .integer(try row.decode(Int64.self, atIndex: index))
        case .real: return .real(try row.decode(Double.self, atIndex: index).bitPattern)
        case .text(let bytes):
            if String(validating: bytes, as: UTF8.self) == nil { return ExactValue(row[index] as DatabaseValue) }
            return .text(Array(try row.decode(String.self, atIndex: index).utf8))
        case .blob: return .blob(try row.decode([UInt8].self, atIndex: index))
        }
    }
}

/// The values of a row, whatever its columns.
private struct PlainRecord: FetchableRecord {
    let values: [ExactValue]

    init(row: Row) { values = row.databaseValues.map(ExactValue.init) }
}

extension ExactValue {
    /// A value of the library.
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .real(value.bitPattern)
        case .string(let text): self = .text(Array(text.utf8))
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }

    /// The same as a value of the library.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let bits): Double(bitPattern: bits).databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): bytes.databaseValue
        }
    }

    /// The value, or a blob where it is text that is no UTF-8.
    var withoutBrokenText: ExactValue {
        if case .text(let bytes) = self, String(validating: bytes, as: UTF8.self) == nil { return .blob(bytes) }
        return self
    }
}
