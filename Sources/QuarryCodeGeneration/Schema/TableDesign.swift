import Quarry

/// A table as the builder of the library can say it.
struct TableDesign: Equatable {
    struct DesignedColumn: Equatable {
        var name: String
        var type: String
        var isNotNull: Bool
        var isUnique: Bool
        var defaultSQL: String?
        var isPrimaryKey: Bool
        var isAutoincremented: Bool
        var reference: SchemaForeignKey?
    }

    var name: String
    var columns: [DesignedColumn]
    /// Of several columns.
    var primaryKey: [String]
    var uniqueKeys: [[String]]
    var foreignKeys: [SchemaForeignKey]
    var isWithoutRowID: Bool
    var isStrict: Bool

    /// Words of features that a design lacks, and comments, which would be lost.
    private static let unknown: Set<String> = [
        "CHECK", "COLLATE", "CONFLICT", "DEFERRABLE", "GENERATED", "AS", "CONSTRAINT", "DESC", "FULL", "PARTIAL",
        "SIMPLE",
    ]

    /// The design of a table; nil if the builder can't make the same one.
    ///
    /// - parameter sql: the SQL that made the table.
    init?(_ name: String, sql: String, _ db: Database) throws {
        let words = SQLWords(sql)
        guard !words.hasComment, words.words.isDisjoint(with: Self.unknown) else { return nil }
        let facts = try TableFacts(name, isAutoincremented: words.words.contains("AUTOINCREMENT"), db)
        self.init(facts)
        guard let remade = try? remade(), remade == facts else { return nil }
    }

    private init(_ facts: TableFacts) {
        name = facts.name
        isWithoutRowID = facts.isWithoutRowID
        isStrict = facts.isStrict
        let key = facts.columns.filter { $0.keyIndex > 0 }.sorted { $0.keyIndex < $1.keyIndex }.map(\.name)
        var unique = facts.indexes.filter { $0.origin == "u" }.map { $0.columns.map(\.name) }
        var foreignKeys = facts.foreignKeys
        columns = facts.columns.map { column in
            let isUnique = unique.contains([column.name])
            unique.removeAll { $0 == [column.name] }
            let reference = foreignKeys.first { $0.columns == [column.name] }
            if let index = foreignKeys.firstIndex(where: { $0.columns == [column.name] }) {
                foreignKeys.remove(at: index)
            }
            return DesignedColumn(
                name: column.name, type: column.type, isNotNull: column.isNotNull, isUnique: isUnique,
                defaultSQL: column.defaultSQL, isPrimaryKey: key == [column.name],
                isAutoincremented: key == [column.name] && facts.isAutoincremented, reference: reference)
        }
        primaryKey = key.count > 1 ? key : []
        uniqueKeys = unique
        self.foreignKeys = foreignKeys
    }

    /// The table that the builder makes from it.
    private func remade() throws -> TableFacts {
        let dbQueue = try DatabaseQueue()
        return try dbQueue.write { db in
            var options: TableOptions = []
            if isWithoutRowID { options.insert(.withoutRowID) }
            if isStrict { options.insert(.strict) }
            try db.create(table: name, options: options) { t in
                for column in columns {
                    let definition = t.column(column.name, column.type.isEmpty ? nil : .init(rawValue: column.type))
                    if column.isPrimaryKey { definition.primaryKey(autoincrement: column.isAutoincremented) }
                    if column.isNotNull { definition.notNull() }
                    if column.isUnique { definition.unique() }
                    if let sql = column.defaultSQL { definition.defaults(sql: sql) }
                    if let key = column.reference {
                        definition.references(
                            key.table, column: key.destinationColumns?.first, onDelete: key.action(\.onDelete),
                            onUpdate: key.action(\.onUpdate))
                    }
                }
                if !primaryKey.isEmpty { t.primaryKey(primaryKey) }
                for key in uniqueKeys { t.uniqueKey(key) }
                for key in foreignKeys {
                    t.foreignKey(
                        key.columns, references: key.table, columns: key.destinationColumns,
                        onDelete: key.action(\.onDelete), onUpdate: key.action(\.onUpdate))
                }
            }
            return try TableFacts(name, isAutoincremented: columns.contains(where: \.isAutoincremented), db)
        }
    }
}

extension SchemaForeignKey {
    func action(_ action: KeyPath<SchemaForeignKey, String>) -> Database.ForeignKeyAction? {
        self[keyPath: action] == "NO ACTION" ? nil : Database.ForeignKeyAction(rawValue: self[keyPath: action])
    }
}

/// All that SQLite tells of a table, for comparison.
struct TableFacts: Equatable {
    struct ColumnFacts: Equatable {
        var name: String
        var type: String
        var isNotNull: Bool
        var defaultSQL: String?
        var keyIndex: Int
        var hidden: Int
    }

    struct IndexFacts: Equatable {
        struct Term: Equatable {
            var name: String
            var isDescending: Bool
            var collation: String
        }

        var isUnique: Bool
        var origin: String
        var isPartial: Bool
        var columns: [Term]
    }

    var name: String
    var columns: [ColumnFacts]
    var indexes: [IndexFacts]
    var foreignKeys: [SchemaForeignKey]
    var isWithoutRowID: Bool
    var isStrict: Bool
    var isAutoincremented: Bool

    /// The indexes of CREATE INDEX are left out.
    init(_ name: String, isAutoincremented: Bool, _ db: Database) throws {
        self.name = name
        self.isAutoincremented = isAutoincremented
        columns = try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main')", arguments: [name]).map {
            row in
            ColumnFacts(
                name: row["name"], type: row["type"], isNotNull: row["notnull"], defaultSQL: row["dflt_value"],
                keyIndex: row["pk"], hidden: row["hidden"])
        }
        indexes = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_index_list(?, 'main') WHERE origin <> 'c' ORDER BY seq DESC",
            arguments: [name]
        ).map { row in
            let terms = try Row.fetchAll(
                db, sql: "SELECT * FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
                arguments: [row["name"]])
            return IndexFacts(
                isUnique: row["unique"], origin: row["origin"], isPartial: row["partial"],
                columns: terms.map { term in
                    IndexFacts.Term(
                        name: term["name"] ?? "", isDescending: term["desc"], collation: term["coll"] ?? "")
                })
        }
        foreignKeys = try SchemaTable.foreignKeys(of: name, db).map { key in
            // A key that names no columns refers to the primary key, which may not be there yet for the builder.
            var key = key
            key.destinationColumns = key.destinationColumns ?? (try? db.primaryKey(key.table, in: "main"))?.columns
            return key
        }
        let listed = try Row.fetchOne(
            db, sql: "SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name])
        isWithoutRowID = listed?["wr"] ?? false
        isStrict = listed?["strict"] ?? false
    }
}

/// An index as the library's call can say it.
struct IndexDesign {
    var name: String
    var table: String
    var columns: [String]
    var isUnique: Bool

    /// The design of an index; nil if it has expressions, conditions, orders or collations.
    init?(_ object: SchemaObject, _ db: Database) throws {
        let words = SQLWords(object.sql)
        guard !words.hasComment, words.words.isDisjoint(with: ["WHERE", "DESC", "COLLATE"]) else { return nil }
        let index = try db.indexes(on: object.table, in: "main").first { $0.name.isSameSQLName(as: object.name) }
        guard let index, !index.isPartial else { return nil }
        name = object.name
        table = object.table
        columns = index.columns
        isUnique = index.isUnique
    }
}

/// The unquoted words of some SQL.
struct SQLWords {
    private(set) var words: Set<String> = []
    private(set) var hasComment = false

    init(_ sql: String) {
        var plain = ""
        var end: Character?
        for character in sql {
            if let quote = end {
                // A quote that is doubled begins another text at once.
                if character == quote { end = nil }
                continue
            }
            switch character {
            case "'", "\"", "`": end = character
            case "[": end = "]"
            default: plain.append(character)
            }
            if end != nil { plain.append(" ") }
        }
        hasComment = plain.contains("--") || plain.contains("/*")
        words = Set(plain.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    }
}
