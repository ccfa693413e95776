import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Cursors and what is made of them; prepared statements; several statements in one text.
enum CursorsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, length INTEGER);
                    -- A comment; with a semicolon.
                    CREATE INDEX wordLength ON word(length);
                    """)
            let insert = try db.makeStatement(sql: "INSERT INTO word (text, length) VALUES (?, ?)")
            for text in ["one", "two", "three", "four", "five", "six"] {
                try insert.execute(arguments: [text, text.count])
            }
            let named = try db.makeStatement(sql: "INSERT INTO word (text, length) VALUES (:text, :length)")
            named.arguments = ["text": "seven", "length": nil]
            try named.execute()
            print(insert.isReadonly, insert.columnCount, db.lastInsertedRowID)
            do {
                try insert.setArguments(["alone"])
            } catch let error as DatabaseError {
                print(error.message ?? "")
            }
        }

        try dbQueue.read { db in
            let words = try String.fetchCursor(db, sql: "SELECT text FROM word ORDER BY id")
            while let word = try words.next() {
                if word == "three" { break }
            }
            print(try words.next() ?? "none", try Array(words), try words.next() ?? "none")

            func texts() throws -> DatabaseValueCursorOfTexts {
                try String.fetchCursor(db, sql: "SELECT text FROM word ORDER BY id")
            }
            print(try Array(texts().map { $0.count }), try Array(texts().filter { $0.count == 3 }))
            print(
                try Array(texts().enumerated().map { "\($0) \($1)" }.prefix(2)),
                try Array(texts().compactMap { $0.count == 4 ? $0 : nil }))
            print(
                try Array(texts().dropFirst(5)), try Array(texts().drop { $0 != "five" }),
                try Array(texts().prefix { $0 != "four" }))
            print(
                try texts().contains("six"), try texts().contains { $0.hasPrefix("x") },
                try texts().first { $0.hasPrefix("t") } ?? "none")
            print(try texts().reduce("") { $0 + $1.prefix(1) }, try texts().reduce(into: 0) { $0 += $1.count })
            print(
                try texts().max() ?? "none", try texts().min() ?? "none", try texts().suffix(2), try texts().dropLast(5)
            )
            print(
                try texts().isEmpty,
                try texts().flatMap { word in word.prefix(1).map { String($0) } }.joined(separator: ""))
            print(
                try Set(texts().map { $0.count }).sorted(),
                try Dictionary(grouping: texts(), by: { $0.count }).mapValues(\.count)[5] ?? -1)
            print(
                try Dictionary(uniqueKeysWithValues: texts().map { ($0, $0.count) })["six"] ?? -1,
                try texts().joined(separator: ", "))
            var all: [String] = []
            try texts().forEach { all.append($0.uppercased()) }
            try all.append(contentsOf: texts().prefix(1))
            print(all)
            let erased = try AnyCursor(texts().map { $0 as Any })
            print(try erased.next() != nil)
        }

        try dbQueue.read { db in
            // A row of a cursor is the same object in each step.
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM word WHERE id < ? ORDER BY id", arguments: [4])
            var copies: [Row] = []
            while let row = try rows.next() {
                copies.append(row.copy())
            }
            print(copies.map { $0["text"] as String? ?? "NULL" }, copies.count)
            let records = try Word.filter(Column("length") > 3).order(Column("id")).fetchCursor(db)
            print(try records.map(\.text).next() ?? "none")
            let optionals = try Int?.fetchCursor(db, sql: "SELECT length FROM word ORDER BY id DESC LIMIT 2")
            while let length = try optionals.next() {
                print(length ?? -1)
            }
            print(
                try Int?.fetchAll(db, sql: "SELECT length FROM word WHERE id > 6"),
                try Int.fetchOne(db, sql: "SELECT length FROM word WHERE id = 7") ?? -1)
            do {
                print(try Int.fetchAll(db, sql: "SELECT length FROM word"))
            } catch is RowDecodingError {
                print("NULL is no number")
            }
        }

        try dbQueue.write { db in
            let statement = try db.cachedStatement(sql: "SELECT text FROM word WHERE length = ? ORDER BY id")
            print(
                try String.fetchAll(statement, arguments: [3]), try String.fetchOne(statement, arguments: [4]) ?? "none"
            )
            print(statement.sql, statement.columnNames, statement.isReadonly, statement.index(ofColumn: "TEXT") ?? -1)
            print(
                try Row.fetchAll(statement, arguments: [5]).count,
                try Word.fetchSet(db.makeStatement(sql: "SELECT * FROM word WHERE id = 1")).count)
            let statements = try db.allStatements(
                sql:
                    "INSERT INTO word (text) VALUES (?); SELECT text FROM word WHERE length IS NULL; SELECT ?",
                arguments: ["eight", 12])
            while let statement = try statements.next() {
                print(try Row.fetchAll(statement).map { Array($0.databaseValues) })
            }
            for sql in ["SELECT 1; SELECT 2", "", "SELECT * FROM nothing"] {
                do {
                    _ = try db.makeStatement(sql: sql)
                } catch let error as DatabaseError {
                    print(error.resultCode.rawValue, error.sql ?? "-")
                }
            }
            try db.execute(
                sql: "UPDATE word SET length = :length WHERE text = :text; DELETE FROM word WHERE text = :text",
                arguments: ["length": 1, "text": "one"])
            print(db.changesCount, try Word.fetchCount(db))
            do {
                try db.execute(sql: "DELETE FROM word WHERE id = ?; DELETE FROM word", arguments: [2, 3])
            } catch let error as DatabaseError {
                print(error.resultCode == .SQLITE_MISUSE, error.message ?? "")
            }
        }
    }

    private typealias DatabaseValueCursorOfTexts = FastDatabaseValueCursor<String>
}

private struct Word: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var text: String
    var length: Int?
}
