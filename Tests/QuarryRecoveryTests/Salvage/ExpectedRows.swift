import Quarry
import QuarryCore

@testable import QuarryAccess
@testable import QuarryRecovery

/// A row of an undamaged file, and the pages that hold it.
struct ExpectedRow {
    var table: String
    /// The rowid, and the values as stored.
    var stored: String
    /// The rowid, and the values as SQLite reads them: columns that were added later have their defaults.
    var selected: String
    var pages: [UInt32]
}

/// The rows of an undamaged file, with their pages.
struct ExpectedRows {
    private(set) var rows: [ExpectedRow] = []
    /// The content of the pages.
    private(set) var pages: [[UInt8]?] = [nil]
    private(set) var interiorPages: [UInt32] = []

    init(path: String) throws {
        let source = try PageSource(path: path, vfs: nil)
        for number in 1...source.lastPageNumber { pages.append(source.page(number)) }
        let salvager = Salvager(source, target: "", includesFreePages: false) { _ in }
        try salvager.readSchema()
        // Opened as SQLite would, on a copy of the state.
        let selected = try Self.selectedRows(path: path)
        for object in salvager.objects where object.kind == .table && object.root > 0 && !object.isInternal {
            guard let table = selected[object.name] else { continue }
            _ = try salvager.walk.walk(table.isWithoutRowID ? .index : .table, root: object.root) { _ in
                true
            } _: { content in
                for cell in content.page.cells {
                    guard let record = salvager.record(content, cell) else { continue }
                    var pages = [content.number]
                    var (next, rest) = (cell.overflow, cell.payloadSize - cell.local.count)
                    while rest > 0, let page = source.page(next) {
                        pages.append(next)
                        next = page.bigEndian32(at: 0) ?? 0
                        rest -= source.header.usableSize - 4
                    }
                    let rowID = table.isWithoutRowID ? nil : cell.rowID
                    let stored = RowText.stored(rowID, record, source.header.encoding)
                    // Records are told apart by their beginning: rows may lack the columns that were added later.
                    guard let text = table.rows[table.key(rowID, record, source.header.encoding)] else {
                        throw Mismatch(description: "SQLite doesn't have \(object.name) \(stored)")
                    }
                    self.rows.append(ExpectedRow(table: object.name, stored: stored, selected: text, pages: pages))
                }
            }
            guard self.rows.count(where: { $0.table == object.name }) == table.rows.count else {
                throw Mismatch(description: "SQLite has other rows in \(object.name)")
            }
        }
        for number in 1...source.lastPageNumber {
            guard let bytes = pages[Int(number)],
                let page = BTreePage(bytes, number: number, usableSize: source.header.usableSize)
            else { continue }
            if !page.kind.isLeaf { interiorPages.append(number) }
        }
    }

    struct Mismatch: Error, CustomStringConvertible {
        var description: String
    }

    struct SelectedTable {
        var isWithoutRowID: Bool
        var keyCount: Int
        var rows: [String: String] = [:]

        func key(_ rowID: Int64?, _ record: SalvagedRecord, _ encoding: FileHeader.Encoding) -> String {
            if let rowID { return "\(rowID)" }
            return record.values.prefix(keyCount).map { RowText.value($0.databaseValue(encoding)) }.joined(
                separator: "|")
        }
    }

    /// The rows of all tables, as SQLite reads them.
    static func selectedRows(path: String) throws -> [String: SelectedTable] {
        let copy = path + "-selected"
        for suffix in ["", "-wal"] { try FileCopy.copyIfExists(path + suffix, to: copy + suffix) }
        defer { for suffix in ["", "-wal", "-shm"] { FileCopy.remove(copy + suffix) } }
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            let target = SalvageTarget(db, encoding: .utf8, tableNames: [])
            var tables: [String: SelectedTable] = [:]
            for name in try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
            {
                guard let table = try target.table(name), !name.hasPrefix("sqlite_") else { continue }
                tables[name] = try RowText.rows(of: table, db)
            }
            return tables
        }
    }
}

/// The rows of a salvaged file.
struct SavedRows {
    private let tables: [String: Set<String>]
    private let lost: Set<String>
    private let report: SalvageReport

    init(_ path: String, _ report: SalvageReport) throws {
        self.report = report
        tables = try ExpectedRows.selectedRows(path: path).mapValues { Set($0.rows.values) }
        lost = try DatabaseQueue(path: path).read { db in
            try report.lostAndFoundTable.map { try RowText.lostAndFound($0, db) } ?? []
        }
    }

    /// Throws unless all rows on undamaged pages were saved.
    ///
    /// - parameter pages: the present content of the pages.
    /// - returns: the number of rows that had to be saved, and of those in their tables.
    func check(_ expected: ExpectedRows, pages: [[UInt8]?]) throws -> (all: Int, inTable: Int) {
        var (count, inTable) = (0, 0)
        for row in expected.rows {
            guard row.pages.allSatisfy({ expected.pages[Int($0)] == pages[Int($0)] }) else { continue }
            count += 1
            if tables[row.table]?.contains(row.selected) == true {
                inTable += 1
            } else if !lost.contains(row.stored) {
                throw ExpectedRows.Mismatch(
                    description: "lost: \(row.table) \(row.stored.prefix(200)) of pages \(row.pages), \(report)")
            }
        }
        return (count, inTable)
    }
}

/// Rows as text, to compare them.
enum RowText {
    static func value(_ value: DatabaseValue?) -> String {
        guard let value else { return "?" }
        // A column of reals stores 1.0 as 1.
        if case .double(let number) = value.rawStorage, let integer = Int64(exactly: number) { return "\(integer)" }
        return value.description
    }

    static func stored(_ rowID: Int64?, _ record: SalvagedRecord, _ encoding: FileHeader.Encoding) -> String {
        let values = record.values.map { value($0.databaseValue(encoding)) }
        return "\(rowID.map { "\($0)" } ?? "")|" + values.joined(separator: "|")
    }

    /// The rows of a table: by rowid or key.
    static func rows(of table: SalvageTarget.Table, _ db: Database) throws -> ExpectedRows.SelectedTable {
        let keyCount = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM pragma_table_info(?) WHERE pk > 0", arguments: [table.name])!
        var result = ExpectedRows.SelectedTable(isWithoutRowID: table.isWithoutRowID, keyCount: keyCount)
        let columns = table.shape.columns.map { $0.isRowID ? "NULL" : $0.name.quotedDatabaseIdentifier }
        let rowID = table.isWithoutRowID ? "NULL" : "rowid"
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT \(rowID), \(columns.joined(separator: ", ")) FROM \(table.name.quotedDatabaseIdentifier)")
        for row in rows {
            let values = (0..<columns.count).map { value(row[$0 + 1] as DatabaseValue) }
            let id = row[0] as Int64?
            let key = id.map { "\($0)" } ?? values.prefix(keyCount).joined(separator: "|")
            result.rows[key] = "\(id.map { "\($0)" } ?? "")|" + values.joined(separator: "|")
        }
        return result
    }

    /// The rows of the table of lost rows.
    static func lostAndFound(_ name: String, _ db: Database) throws -> Set<String> {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier)")
        return Set(
            rows.map { row in
                let values = (0..<(row["fieldCount"] as Int)).map { value(row["c\($0)"] as DatabaseValue) }
                return "\((row["id"] as Int64?).map { "\($0)" } ?? "")|" + values.joined(separator: "|")
            })
    }
}
