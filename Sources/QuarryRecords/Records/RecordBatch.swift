import QuarryCore
import QuarrySQL

/// A statement that inserts several records at once.
///
/// Its VALUES list has several rows, which spares SQLite beginning and ending a statement for each.
final class RecordBatch {
    /// The statement that inserts one record.
    let slot: RecordPlan.Slot

    /// The number of records that it inserts.
    let size: Int

    private let statement: Statement
    private let layout: ParameterLayout
    private let target: EncodingTarget
    private var repreparations: CInt

    /// A larger batch saves little.
    private static let mostRecords = 32

    /// - parameter schema: the schema of the table.
    /// - returns: nil if records can't be inserted together.
    init?(_ slot: RecordPlan.Slot, _ target: EncodingTarget, schema: String, _ db: Database) throws {
        let columnCount = slot.parameters.count
        guard let layout = slot.layout, columnCount > 0, columnCount == slot.names.count,
            // Other resolutions keep the rows before a failed row, or roll back the transaction.
            [.abort, .ignore, .replace].contains(slot.kind.resolution),
            try !Self.schemaMayDoTheSame(schema, db)
        else { return nil }
        size = min(Self.mostRecords, db.maximumStatementArgumentCount / columnCount)
        guard size > 1 else { return nil }
        let row = "(" + repeatElement("?", count: columnCount).joined(separator: ",") + ")"
        statement = try db.makeStatement(
            sql: slot.statement.sql + repeatElement(", " + row, count: size - 1).joined())
        repreparations = statement.repreparations
        self.slot = slot
        self.layout = layout
        self.target = target
    }

    /// Whether a table or a trigger itself uses FAIL or ROLLBACK: `UNIQUE ON CONFLICT FAIL`, `RAISE(FAIL, …)`.
    ///
    /// A trigger of one table may write to any other.
    private static func schemaMayDoTheSame(_ schema: String, _ db: Database) throws -> Bool {
        let statements = try String.fetchCursor(
            db.makeStatement(
                sql: """
                    SELECT sql FROM \(schema.quotedDatabaseIdentifier).sqlite_master
                    WHERE sql LIKE '%FAIL%' OR sql LIKE '%ROLLBACK%'
                    UNION ALL
                    SELECT sql FROM sqlite_temp_master WHERE sql LIKE '%FAIL%' OR sql LIKE '%ROLLBACK%'
                    """))
        while let sql = try statements.next() {
            let words = sql.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if words.contains(where: { $0 == "FAIL" || $0 == "ROLLBACK" }) { return true }
        }
        return false
    }

    var isFree: Bool { !statement.isExecuting }

    /// Whether the schema has changed since the last call.
    var wasPreparedAgain: Bool {
        let count = statement.repreparations
        defer { repreparations = count }
        return count != repreparations
    }

    /// Inserts `size` records.
    ///
    /// - returns: the number of inserted rows; nil if nothing was inserted: then the records have to be inserted one by
    ///   one, which also reveals the record that fails.
    func insert(_ records: some RandomAccessCollection<some EncodableRecord>, _ db: Database) throws -> Int? {
        let columnCount = slot.parameters.count
        do {
            let isDone = try statement.execute { binder in
                var firstParameter = 0
                for record in records {
                    let isBound = try target.bind(
                        record, layout, binder, firstParameter: CInt(truncatingIfNeeded: firstParameter))
                    guard isBound else { return false }
                    firstParameter += columnCount
                }
                return true
            }
            return isDone ? db.changesCount : nil
        } catch let error as DatabaseError where error.sql == statement.sql && db.isInsideTransaction {
            switch error.resultCode {
            case .SQLITE_CONSTRAINT, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_MISUSE, .SQLITE_TOOBIG: return nil
            default: throw error
            }
        }
    }
}
