import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Functions, aggregates and collations of the program's own, and those of the library.
enum FunctionsProgram: Program {
    static func run() throws {
        let reverse = DatabaseFunction("reverse", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
        }
        let joined = DatabaseFunction("joined") { values in
            values.map { $0.isNull ? "-" : "\($0.storage.value ?? "")" }.joined(separator: "+")
        }
        let failing = DatabaseFunction("failing", argumentCount: 0) { _ in
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "this function fails")
        }
        let maxLength = DatabaseFunction("maxLength", argumentCount: 1, aggregate: MaxLength.self)
        let naturalOrder = DatabaseCollation("naturalOrder") { left, right in
            if left.count != right.count {
                return left.count < right.count ? .orderedAscending : .orderedDescending
            }
            return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(function: reverse)
            db.add(function: joined)
            db.add(function: failing)
            db.add(function: maxLength)
            db.add(collation: naturalOrder)
        }
        let dbQueue = try DatabaseQueue(configuration: configuration)
        try dbQueue.write { db in
            try db.create(table: "file") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).collate(naturalOrder)
                t.column("size", .integer)
                t.column("backwards", .text).generatedAs(reverse(Column("name")))
            }
            for (name, size) in [("file10", 5), ("file2", nil), ("File1", 7), ("ÉCOLE", 1), ("école", 2)]
                as [(String, Int?)]
            {
                try db.execute(sql: "INSERT INTO file (name, size) VALUES (?, ?)", arguments: [name, size])
            }
        }

        try dbQueue.read { db in
            let files = Table("file")
            print(try String.fetchAll(db, sql: "SELECT name FROM file ORDER BY name"))
            print(try String.fetchAll(db, sql: "SELECT backwards FROM file ORDER BY id"))
            print(
                try String.fetchAll(
                    db, files.select(reverse(Column("name"))).filter(Column("size") > 4).order(Column("id"))))
            print(
                try String.fetchOne(db, sql: "SELECT joined(1, NULL, 2.5, 'x')") ?? "NULL",
                try String.fetchOne(db, sql: "SELECT joined()") ?? "NULL")
            print(try Int.fetchOne(db, files.select(maxLength(Column("name")))) ?? -1)
            print(
                try Row.fetchAll(
                    db, sql: "SELECT size > 4 AS big, maxLength(name) AS n FROM file GROUP BY size > 4 ORDER BY 1"))
            print(try Int.fetchOne(db, sql: "SELECT maxLength(name) FROM file WHERE 0") ?? -1)
            do {
                _ = try Row.fetchAll(db, sql: "SELECT failing()")
            } catch let error as DatabaseError {
                print(error)
            }
            print(try files.filter(Column("name").collating(.caseInsensitiveCompare) == "FILE2").fetchCount(db))
            print(
                try String.fetchAll(
                    db, files.filter(Column("name").lowercased == "école").select(Column("name")).order(Column("id"))))
            print(
                try String.fetchAll(db, files.select(Column("name").uppercased).order(Column("id"))),
                try String.fetchOne(db, files.select(Column("name").capitalized)) ?? "-")
            print(try String.fetchAll(db, files.select(Column("name")).order(Column("name").collating(.binary))))
            print(
                try String.fetchAll(db, files.select(Column("name")).order(Column("name").collating(.unicodeCompare))))
            print(
                try String.fetchAll(db, files.select(Column("name")).order(Column("name").collating(naturalOrder).desc))
            )
        }

        // The functions of SQLite that the query interface knows.
        try dbQueue.read { db in
            let files = Table("file")
            let size = Column("size")
            func one(_ selection: some SQLSpecificExpressible) throws -> DatabaseValue {
                try DatabaseValue.fetchOne(db, files.select(selection)) ?? .null
            }
            try print(
                one(count(size)), one(count(distinct: Column("name"))), one(sum(size)), one(total(size)),
                one(average(size)))
            try print(
                one(min(size)), one(max(size)), one(max(size, filter: size < 6)), one(sum(size, filter: size > 100)))
            try print(
                one(abs(-size)), one(length(Column("name"))), one(coalesce([size, Column("id")])), one(size ?? 0))
            try print(
                one(min(size, 3)), one(max(size, Column("id"))), one(cast(size, as: .text)), one(cast(size, as: .real)))
            try print(
                one(size + 1), one(size - 1), one(size * 2), one(size / 2), one(-size), one(size & 4), one(size | 8),
                one(size << 2), one(size >> 1), one(~size))
            try print(
                one(size == nil), one(size != nil), one(size === 5), one(size !== 5), one(!(size > 3)),
                one([size, 1.databaseValue, 2.databaseValue].joined(operator: .add)))
            print(
                try files.filter(size == 5 || size == 7 && Column("id") > 2).fetchCount(db),
                try files.filter([5, 7].contains(size)).fetchCount(db))
            print(
                try files.filter(!([5, 7] as [Int?]).contains(size)).fetchCount(db),
                try files.filter((2..<7).contains(size)).fetchCount(db))
            print(
                try files.filter(Column("name").like("F%")).fetchCount(db),
                try files.filter(Column("name").like("f\\_%", escape: "\\")).fetchCount(db))
            print(
                try files.filter(files.select(max(size)).contains(size)).fetchCount(db),
                try files.filter(size == files.select(min(size))).fetchCount(db))
        }

        try dbQueue.writeWithoutTransaction { db in
            db.remove(function: reverse)
            db.remove(collation: naturalOrder)
            do {
                _ = try String.fetchOne(db, sql: "SELECT reverse('a')")
            } catch let error as DatabaseError {
                print(error.message ?? "")
            }
        }
    }
}

private struct MaxLength: DatabaseAggregate {
    private var length: Int?

    mutating func step(_ dbValues: [DatabaseValue]) {
        guard let text = String.fromDatabaseValue(dbValues[0]) else { return }
        length = Swift.max(length ?? 0, text.count)
    }

    func finalize() -> (any DatabaseValueConvertible)? {
        length
    }
}
