import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Tables, constraints, indexes, triggers and views: made, changed and read.
enum SchemaProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "parent", options: .ifNotExists) { t in
                t.primaryKey("code", .text).collate(.nocase)
                t.column("region", .text)
                t.uniqueKey(["code", "region"])
            }
            try db.create(table: "child") { t in
                t.autoIncrementedPrimaryKey("id", onConflict: .abort)
                t.column("name", .text).notNull(onConflict: .rollback).collate(.nocase)
                t.column("low", .integer).notNull().defaults(to: 0).check { $0 >= 0 }
                t.column("high", .integer).check(sql: "high < 1000")
                t.column("sum", .integer).generatedAs(Column("low") + Column("high"), .stored)
                t.column("upper", .text).generatedAs(sql: "UPPER(name)")
                t.column("parentCode", .text).references("parent", onDelete: .cascade, onUpdate: .cascade).indexed()
                t.column("any")
                t.column("flag", .boolean).defaults(to: true)
                t.column("price", .numeric).defaults(sql: "(1 + 1)")
                t.column(sql: "note TEXT DEFAULT 'n'")
                t.column(literal: "size REAL DEFAULT \(1.5)")
                t.foreignKey(
                    ["parentCode", "name"], references: "parent", columns: ["code", "region"], deferred: true)
                t.check(Column("low") <= Column("high"))
                t.check(sql: "low <> 13")
                t.constraint(literal: "CHECK (name <> \("forbidden"))")
            }
            try db.create(table: "measure", options: [.strict, .withoutRowID]) { t in
                t.primaryKey(["sensor", "time"])
                t.column("sensor", .integer)
                t.column("time", .real)
                t.column("value", .any)
            }
            try db.create(table: "scratch", options: .temporary) { $0.column("a") }
            try db.execute(literal: "CREATE TABLE copied AS SELECT \(1) AS one, \("two") AS two")
        }

        try dbQueue.write { db in
            try db.execute(sql: "INSERT INTO parent VALUES ('P', 'pear'), ('Q', 'quince')")
            try db.execute(sql: "INSERT INTO child (name, low, high, parentCode) VALUES ('pear', 1, 5, 'p')")
            print(try Row.fetchOne(db, sql: "SELECT * FROM child")!)
            for (name, low, high) in [("a", -1, 5), ("a", 5, 1), ("a", 1, 2000), ("a", 13, 14), ("forbidden", 1, 2)] {
                do {
                    try db.execute(
                        sql: "INSERT INTO child (name, low, high) VALUES (?, ?, ?)", arguments: [name, low, high])
                    print("accepted")
                } catch DatabaseError.SQLITE_CONSTRAINT_CHECK {
                    print("refused", low, high)
                }
            }
            do {
                try db.execute(sql: "INSERT INTO measure VALUES (1, 'late', 2)")
            } catch DatabaseError.SQLITE_CONSTRAINT_DATATYPE {
                print("strict")
            }
        }

        try dbQueue.read { db in
            for column in try db.columns(in: "child") {
                print(column.name, column.type, column.isNotNull, column.defaultValueSQL ?? "-", column.primaryKeyIndex)
            }
            print(
                try db.primaryKey("measure").columns, try db.primaryKey("child").rowIDColumn ?? "none",
                try db.primaryKey("parent").isRowID)
            for index in try db.indexes(on: "child") + db.indexes(on: "parent") {
                print(
                    index.name, index.columns, index.isUnique, index.origin == .createIndex,
                    index.origin == .primaryKeyConstraint)
            }
            for key in try db.foreignKeys(on: "child") {
                print(key.originColumns, key.destinationTable, key.destinationColumns, key.mapping.count)
            }
            print(
                try db.tableExists("CHILD"), try db.tableExists("nothing"), try db.tableExists("scratch"),
                try db.viewExists("child"))
            print(try db.table("parent", hasUniqueKey: ["code"]), try db.table("parent", hasUniqueKey: ["region"]))
            print(
                Database.isSQLiteInternalTable("sqlite_master"), Database.isGRDBInternalTable("grdb_migrations"),
                try db.schemaVersion() > 0)
            do {
                _ = try db.columns(in: "nothing")
            } catch let error as DatabaseError {
                print(error)
            }
        }

        try dbQueue.write { db in
            try db.alter(table: "parent") { t in
                t.add(column: "size", .integer).notNull().defaults(to: 7)
                t.add(column: "double", .integer).generatedAs(Column("size") * 2)
                t.rename(column: "region", to: "area")
                t.addColumn(sql: "remark TEXT")
            }
            try db.alter(table: "parent") { $0.drop(column: "remark") }
            try db.rename(table: "copied", to: "pair")
            print(try db.columns(in: "parent").map(\.name), try Row.fetchAll(db, sql: "SELECT * FROM pair"))
            try db.create(
                index: "child_on_name", on: "child", columns: ["name", "low"], options: .unique,
                condition: Column("flag") == true)
            try db.create(indexOn: "child", columns: ["high"], options: [.ifNotExists])
            try db.create(
                index: "child_on_length", on: "child", expressions: [length(Column("name")), Column("id")],
                options: .ifNotExists)
            print(
                try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'child' ORDER BY name")
            )
            print(try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'child_on_name'") ?? "none")
            try db.drop(index: "child_on_name")
            try db.drop(indexOn: "child", columns: ["high"])
            try db.reindex(collation: .nocase)
            print(try db.indexes(on: "child").map(\.name))
            try db.create(view: "tall", as: Table("child").filter(Column("high") > 3).select(Column("name")))
            try db.create(
                view: "all_names", options: .ifNotExists, columns: ["n"],
                asLiteral: "SELECT name FROM child UNION SELECT \("x")")
            print(
                try db.viewExists("tall"), try String.fetchAll(db, sql: "SELECT n FROM all_names ORDER BY n"),
                try Table("tall").fetchCount(db))
            try db.drop(view: "all_names")
            try db.execute(
                sql:
                    "CREATE TRIGGER grow AFTER INSERT ON parent BEGIN UPDATE parent SET size = 8 WHERE code = 'R'; END"
            )
            try db.execute(sql: "INSERT INTO parent (code) VALUES ('R')")
            print(try db.triggerExists("grow"), try Int.fetchAll(db, sql: "SELECT double FROM parent ORDER BY code"))
            try db.drop(table: "scratch")
        }

        try dbQueue.writeWithoutTransaction { db in
            try db.execute(
                sql:
                    "PRAGMA foreign_keys = OFF; INSERT INTO child (name, low, parentCode) VALUES ('kiwi', 1, 'Z')"
            )
            let violations = try db.foreignKeyViolations()
            while let violation = try violations.next() {
                print(
                    violation.originTable, violation.destinationTable, violation.originRowID ?? -1,
                    violation.foreignKeyId)
            }
            do {
                try db.checkForeignKeys()
            } catch let error as DatabaseError {
                print(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            }
            print(try db.foreignKeyViolations(in: "measure").next() == nil)
        }
    }
}
