import QuarryCore
import QuarrySQL

/// A statement that inserts several records at once.
///
/// Its rows stand one after the other in its VALUES: that spares SQLite the beginning and end of a statement for each.
final class RecordBatch {
    /// What inserts one record.
    let slot: RecordPlan.Slot

    /// How many records it inserts.
    let size: Int

    private let statement: Statement
    private let layout: ParameterLayout
    private let target: EncodingTarget
    private var repreparations: CInt

    /// More save little.
    private static let mostRecords = 32

    /// - parameter schema: that of the table.
    /// - returns: nil where records can't be inserted together.
    init?(_ slot: RecordPlan.Slot, _ target: EncodingTarget, schema: String, _ db: Database) throws {
        let columnCount = slot.parameters.count
        guard let layout = slot.layout, columnCount > 0, columnCount == slot.names.count,
            // With the others, the rows before one that fails stay, or all is rolled back.
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

    /// Whether a table or a trigger says FAIL or ROLLBACK itself: `UNIQUE ON CONFLICT FAIL`, `RAISE(FAIL, …)`.
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

    /// Whether the schema has changed since it was last asked.
    var wasPreparedAgain: Bool {
        let count = statement.repreparations
        defer { repreparations = count }
        return count != repreparations
    }

    /// Inserts records, as many as `size` says.
    ///
    /// - returns: how many rows there are; nil if nothing was inserted: then the records have to be inserted one by
    ///   one, which tells as well which one fails.
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
