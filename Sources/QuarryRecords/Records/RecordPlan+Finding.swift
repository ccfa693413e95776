import QuarryCore
import QuarrySQL

extension RecordPlan {
    /// Finds a row by its key.
    struct Finder {
        let statement: Statement
        /// The arguments of the selected columns.
        let arguments: [DatabaseValue]
        var repreparations: CInt = 0

        @inline(__always)
        func arguments(_ key: DatabaseValue) -> StatementArguments {
            StatementArguments(values: arguments.isEmpty ? [key] : arguments + [key])
        }
    }

    /// The only column of the primary key.
    ///
    /// - parameter sure: whether to check if another connection has changed the schema since this access began.
    package func keyColumn(_ db: Database, sure: Bool) throws -> String {
        var shape = try shape(db, sure: sure)
        // No statement runs that would notice another connection's change.
        if shape.primaryKey.count != 1 { shape = try refreshedShape(db) }
        let key = shape.primaryKey
        guard key.count == 1 else {
            let columns = key.map { String(reflecting: $0) }.joined(separator: ", ")
            throw DatabaseError.misuse(
                key.isEmpty
                    ? "\(shape.isView ? "view" : "table") \(table) has no primary key"
                    : "the primary key of table \(table) has several columns, \(columns): give a value for each")
        }
        return key[0]
    }

    /// The row with a value of the primary key, as a record.
    package func find<Record: RowDecodable>(_ value: DatabaseValue, _ db: Database) throws -> Record? {
        let column = try keyColumn(db, sure: false)
        guard let finder, !finder.statement.isExecuting else { return try findFirst(column, value, db) }
        let record: Record?
        do {
            record = try Record.fetchOne(finder.statement, arguments: finder.arguments(value))
        } catch let error as DatabaseError {
            // The column may no longer exist.
            guard (try? isOutdated(db)) ?? false else { throw error }
            return try find(value, db)
        }
        if finder.statement.repreparations == finder.repreparations { return record }
        // The schema has changed: the column may no longer be the key.
        stamp = (-1, -1, 0)
        self.finder?.repreparations = finder.statement.repreparations
        return try keyColumn(db, sure: false) == column ? record : find(value, db)
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
