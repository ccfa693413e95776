import QuarryCore

/// The facts about a table or view that the persistence methods need.
package final class TableShape: Equatable {
    /// `main`, `temp`, or the name of an attached database; nil for a table in none of them, such as `sqlite_master`.
    let schema: String?

    package let name: String

    /// The columns, generated ones too.
    let columns: [String]

    /// The columns of the primary key; a name of the rowid if none is declared; for views, the key from
    /// `Configuration.schemaSource`. Empty if rows can't be identified.
    let primaryKey: [String]

    /// The column that has the rowid, by its declared name.
    package let rowIDColumn: String?

    /// The names of the rowid that no column has; empty if there is no rowid.
    let rowIDNames: [String]

    /// A name of the rowid in SQL; nil if there is no rowid, or columns have all its names.
    var rowIDName: String? { rowIDNames.first ?? rowIDColumn }

    /// Whether rows have a rowid, whatever its name: rows of views and of tables WITHOUT ROWID have none.
    let hasRowID: Bool

    let isView: Bool

    /// The columns of each unique index that isn't partial, as last read; nil before. Forgotten with the shape, when
    /// the schema has changed.
    private var knownUniqueKeys: [[String]]?

    /// Reads the schema.
    ///
    /// - throws: `DatabaseError` if the table or view doesn't exist.
    init(_ db: Database, _ name: String) throws {
        self.name = name
        let columns = try db.columns(in: name)
        self.columns = columns.map(\.name)
        let table = try db.schema.find(name, in: nil, db)
        schema = table?.schema
        isView = table?.kind == .view
        guard let table, !isView else {
            let view = table.map { DatabaseObjectID(name: $0.name, schemaID: .attached($0.schema)) }
            primaryKey = try view.flatMap { try db.schemaSource?.columnsForPrimaryKey(db, inView: $0) } ?? []
            rowIDColumn = nil
            rowIDNames = []
            hasRowID = false
            return
        }
        // A column with a name of the rowid hides it: https://www.sqlite.org/lang_createtable.html#rowid
        let rowIDNames = RowID.names.filter { name in
            !columns.contains { $0.name.isSameName(as: name) }
        }
        let hasKey = !rowIDNames.isEmpty || columns.contains { $0.primaryKeyIndex > 0 }
        let key = hasKey ? try db.schema.primaryKey(of: table, db) : nil
        primaryKey = key?.columns ?? []
        rowIDColumn = key?.rowIDColumn
        // Rows without a declared key are identified by their rowid.
        hasRowID = key?.tableHasRowID ?? true
        self.rowIDNames = hasRowID ? rowIDNames : []
    }

    package static func == (lhs: TableShape, rhs: TableShape) -> Bool {
        lhs.schema == rhs.schema && lhs.name == rhs.name && lhs.columns == rhs.columns
            && lhs.primaryKey == rhs.primaryKey && lhs.rowIDColumn == rhs.rowIDColumn
            && lhs.rowIDNames == rhs.rowIDNames && lhs.isView == rhs.isView
    }

    /// The columns of a unique index that isn't partial.
    ///
    /// - returns: nil if no such index meets the condition.
    func uniqueKey(_ db: Database, where isWanted: ([String]) -> Bool) throws -> [String]? {
        guard let schema, !isView else { return nil }
        if let key = knownUniqueKeys?.first(where: isWanted) { return key }
        // Read again before the key is missed: outside a transaction, another connection may have made the index.
        let keys = try db.indexes(on: name, in: schema).filter { $0.isUnique && !$0.isPartial }.map(\.columns)
        knownUniqueKeys = keys
        return keys.first(where: isWanted)
    }

    /// The name of a column in the table, ignoring case; nil if there is none.
    package func column(_ name: String) -> String? { columns.first { $0.isSameName(as: name) } }

    func isOfPrimaryKey(_ column: String) -> Bool { primaryKey.contains { $0.isSameName(as: column) } }
}
