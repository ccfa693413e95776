import Quarry
import QuarryTestSupport
import Testing

@Suite("What is defined is what is read")
struct SchemaRoundTripTests {
    private struct Column: Equatable {
        var name: String
        var type: String
        var isNotNull: Bool
        var isUnique: Bool
        var defaultValue: DatabaseValue?
    }

    @Test func randomTables() throws {
        var random = SeededGenerator()
        print("SchemaRoundTripTests.randomTables seed: \(random.seed)")
        let types: [Database.ColumnType?] = [nil, .text, .integer, .double, .blob, .boolean, .datetime, .any, .numeric]
        let defaults: [DatabaseValue] = [
            1.databaseValue, (-2.5).databaseValue, "a'b\0".databaseValue, [1, 2].databaseValue, .null,
        ]
        for number in 0..<60 {
            let columns = (0..<Int.random(in: 1...8, using: &random)).map { index in
                Column(
                    name: ["a", "order", "x y", "\"q\"", "Ü", "e'", "😀", "h"][index],
                    type: types.randomElement(using: &random)!?.rawValue ?? "",
                    isNotNull: Bool.random(using: &random), isUnique: Int.random(in: 0..<4, using: &random) == 0,
                    defaultValue: Bool.random(using: &random) ? defaults.randomElement(using: &random)! : nil)
            }
            let keyCount = Int.random(in: 0...min(3, columns.count), using: &random)
            let key = Array(columns.map(\.name).shuffled(using: &random).prefix(keyCount))
            let withoutRowID = keyCount > 0 && Bool.random(using: &random)
            let context = "table \(number), seed \(random.seed)"
            try withConnection { db in
                try db.create(table: "parent") { t in
                    for name in key { t.column(name) }
                    t.column("other")
                    if !key.isEmpty { t.primaryKey(key) }
                }
                try db.create(table: "t", options: withoutRowID ? .withoutRowID : []) { t in
                    for column in columns {
                        let type = column.type.isEmpty ? nil : Database.ColumnType(rawValue: column.type)
                        let definition = t.column(column.name, type)
                        if column.isNotNull { definition.notNull() }
                        if column.isUnique { definition.unique() }
                        if let value = column.defaultValue { definition.defaults(to: value) }
                    }
                    if !key.isEmpty {
                        t.primaryKey(key)
                        t.foreignKey(key, references: "parent", onDelete: .cascade)
                    }
                }
                let read = try db.columns(in: "t").map { info in
                    Column(
                        name: info.name, type: info.type, isNotNull: info.isNotNull,
                        isUnique: try db.indexes(on: "t").contains {
                            $0.origin == .uniqueConstraint && $0.columns == [info.name]
                        },
                        defaultValue: try info.defaultValueSQL.map { sql in
                            try DatabaseValue.fetchOne(db, sql: "SELECT \(sql)") ?? .null
                        })
                }
                for (column, info) in zip(columns, read) {
                    #expect(column.name.utf8.elementsEqual(info.name.utf8) && column.type == info.type, "\(context)")
                    // Keys of WITHOUT ROWID tables are NOT NULL by themselves.
                    #expect(
                        info.isNotNull == (column.isNotNull || withoutRowID && key.contains(column.name)), "\(context)")
                    #expect(column.defaultValue == info.defaultValue, "\(context)")
                    // A key of one column needs no other index.
                    #expect(column.isUnique == info.isUnique || key == [column.name], "\(context)")
                    #expect(try !column.isUnique || db.table("t", hasUniqueKey: [column.name]), "\(context)")
                }
                #expect(read.count == columns.count, "\(context)")
                let primaryKey = try db.primaryKey("t")
                #expect(primaryKey.columns == (key.isEmpty ? ["rowid"] : key), "\(context)")
                #expect(primaryKey.tableHasRowID == !withoutRowID, "\(context)")
                let foreignKeys = try db.foreignKeys(on: "t")
                #expect(foreignKeys.map(\.originColumns) == (key.isEmpty ? [] : [key]), "\(context)")
                #expect(foreignKeys.map(\.destinationColumns) == (key.isEmpty ? [] : [key]), "\(context)")
            }
        }
    }
}
