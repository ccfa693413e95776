import Quarry
import QuarryTableSchemas
import QuarryTestSupport

/// The columns read of the table `t`, and the schema that declares the same.
struct TableReading: Equatable {
    struct Field: Equatable {
        var name: String
        var type: String
        var isNotNull: Bool
        var defaultSQL: String?
    }

    struct Index: Equatable {
        var suffix: String
        var columns: [String]
        var isDescending: [Bool]
        var isUnique: Bool
    }

    var columns: [Field]
    var primaryKey: [String]
    var uniqueKeys: [[String]]
    var foreignKeys: [[String]]
    var indexes: [Index]

    init(
        columns: [Field], primaryKey: [String], uniqueKeys: [[String]], foreignKeys: [[String]], indexes: [Index]
    ) {
        self.columns = columns
        self.primaryKey = primaryKey
        self.uniqueKeys = uniqueKeys
        self.foreignKeys = foreignKeys
        self.indexes = indexes
    }

    init(_ db: Database) throws {
        columns = try db.columns(in: "t").map {
            Field(name: $0.name, type: $0.type, isNotNull: $0.isNotNull, defaultSQL: $0.defaultValueSQL)
        }
        let key = try db.primaryKey("t")
        primaryKey = key.isRowID && key.rowIDColumn == nil ? [] : key.columns
        let all = try db.indexes(on: "t")
        uniqueKeys = all.filter { $0.origin == .uniqueConstraint }.map(\.columns)
        foreignKeys = try db.foreignKeys(on: "t").map(\.originColumns)
        indexes = all.filter { $0.origin == .createIndex }.map { index in
            Index(
                suffix: String(index.name.dropFirst()), columns: index.columns,
                isDescending: index.terms.map(\.isDescending), isUnique: index.isUnique)
        }
        self = sortedKeys
    }

    private var sortedKeys: TableReading {
        var reading = self
        reading.uniqueKeys.sort { $0.joined(separator: ",") < $1.joined(separator: ",") }
        reading.foreignKeys.sort { $0.joined(separator: ",") < $1.joined(separator: ",") }
        reading.indexes.sort { $0.suffix < $1.suffix }
        return reading
    }

    /// With its columns in the order of their names.
    var sorted: TableReading {
        var reading = sortedKeys
        reading.columns.sort { $0.name < $1.name }
        return reading
    }

    /// The schema that declares it.
    var declared: TableSchema {
        TableSchema(inferringColumns: false) { t in
            for column in columns {
                // An expression has parentheses, which SQLite leaves out of the default it reports.
                let sql = column.defaultSQL.map { $0.contains(" ") ? "(\($0))" : $0 }
                if column.isNotNull, let sql {
                    t.column(column.name, Database.ColumnType(rawValue: column.type)).notNull().defaults(sql: sql)
                } else if column.isNotNull {
                    t.column(column.name, Database.ColumnType(rawValue: column.type)).notNull()
                } else if let sql {
                    t.column(column.name, Database.ColumnType(rawValue: column.type)).defaults(sql: sql)
                } else {
                    t.column(column.name, Database.ColumnType(rawValue: column.type))
                }
            }
            if !primaryKey.isEmpty {
                t.primaryKey(primaryKey)
            }
            for key in uniqueKeys {
                t.uniqueKey(key)
            }
            for key in foreignKeys {
                t.foreignKey(key, references: "parent", columns: key.count == 1 ? ["id"] : ["a", "b"])
            }
            for index in indexes {
                t.index(
                    on: zip(index.columns, index.isDescending).map { $1 ? Column($0).desc : Column($0).sqlOrdering },
                    suffix: index.suffix, unique: index.isUnique)
            }
        }
    }
}

/// A schema made of chance, and what has to be read of it.
struct RandomTableSchema {
    let declared: TableSchema
    let reading: TableReading

    init(_ random: inout SeededGenerator) {
        let types = ["TEXT", "INTEGER", "DOUBLE", "BLOB", "DATETIME", "BOOLEAN", "NUMERIC", "any thing"]
        let names = ["a", "order", "x y", "\"q\"", "Ü", "e'", "😀", "h", "check", "A b,c"]
        let defaults = ["0", "'a''b'", "NULL", "-1.5", "x'00'", "1 + 1"]
        let columns = names.shuffled(using: &random).prefix(Int.random(in: 1...8, using: &random)).map { name in
            TableReading.Field(
                name: name, type: types.randomElement(using: &random)!, isNotNull: Bool.random(using: &random),
                defaultSQL: Bool.random(using: &random) ? defaults.randomElement(using: &random)! : nil)
        }
        func some(_ count: ClosedRange<Int>) -> [String] {
            let count = min(columns.count, Int.random(in: count, using: &random))
            return Array(columns.map(\.name).shuffled(using: &random).prefix(count))
        }
        let primaryKey = some(0...3)
        var uniqueKeys: [[String]] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let key = some(1...3)
            if Set(key) != Set(primaryKey), !uniqueKeys.contains(where: { Set($0) == Set(key) }) {
                uniqueKeys.append(key)
            }
        }
        let foreignKeys = (0..<Int.random(in: 0...2, using: &random)).map { _ in some(1...2) }
        let indexes = (0..<Int.random(in: 0...3, using: &random)).map { number in
            let columns = some(1...3)
            return TableReading.Index(
                suffix: "_\(number) \"i\"", columns: columns,
                isDescending: columns.map { _ in Bool.random(using: &random) },
                isUnique: Bool.random(using: &random))
        }
        var reading = TableReading(
            columns: columns, primaryKey: primaryKey, uniqueKeys: uniqueKeys,
            foreignKeys: foreignKeys, indexes: indexes
        ).sorted
        reading.columns = columns
        self.reading = reading
        declared = reading.declared
    }
}
