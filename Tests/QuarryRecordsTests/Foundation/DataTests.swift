import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct DataTests {
    @Test(arguments: [
        Data(), Data([0]), Data([0, 1, 0]), Data("text".utf8), Data(0...255), Data(count: 100_000),
        Data([9, 8, 7, 6])[1...2],
    ])
    func comesBackAsItWas(data: Data) throws {
        try withConnection { db throws in
            let value = try stored(data, in: db)
            #expect(value == Array(data).databaseValue)
            #expect(try read(Data.self, from: value, in: db) == data)
            #expect(try String.fetchOne(db, sql: "SELECT typeof(?)", arguments: [data]) == "blob")
            #expect(try Int.fetchOne(db, sql: "SELECT length(?)", arguments: [data]) == data.count)
        }
    }

    @Test func readsTheUTF8OfText() throws {
        try withConnection { db throws in
            for text in ["", "é", "a\0b", "👩‍👩‍👧"] {
                #expect(try read(Data.self, from: text.databaseValue, in: db) == Data(text.utf8))
            }
        }
    }

    @Test func readsNoNumbers() throws {
        try withConnection { db throws in
            for value in [.null, 1.databaseValue, 1.5.databaseValue] as [DatabaseValue] {
                #expect(try read(Data.self, from: value, in: db) == nil)
            }
        }
    }

    @Test func withUnsafeDataLendsTheBytes() throws {
        try withConnection { db throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 'é' AS text, x'0102' AS blob, x'' AS empty, NULL AS none, 1 AS number")
            let row = try #require(try cursor.next())
            for row in [row, row.copy()] {
                #expect(try row.withUnsafeData(atIndex: 0) { $0.map { Array($0) } } == [0xC3, 0xA9])
                #expect(try row.withUnsafeData(named: "BLOB") { $0.map { Array($0) } } == [1, 2])
                #expect(try row.withUnsafeData(at: Column("empty")) { $0?.count } == 0)
                #expect(try row.withUnsafeData(named: "none") { $0?.count } == nil)
                #expect(try row.withUnsafeData(named: "missing") { $0?.count } == nil)
                #expect(throws: RowDecodingError.self) { try row.withUnsafeData(named: "number") { $0?.count } }
                #expect(throws: RowDecodingError.self) { try row.withUnsafeData(atIndex: 5) { $0?.count } }
                #expect(throws: CancellationError.self) {
                    try row.withUnsafeData(atIndex: 0) { _ in throw CancellationError() }
                }
            }
        }
    }

    @Test func manyBlobsComeBack() throws {
        var generator = SeededGenerator()
        print("seed:", generator.seed)
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (data BLOB)")
            let blobs = (0..<200).map { _ in
                let count = Int.random(in: 0...300, using: &generator)
                return Data((0..<count).map { _ in .random(in: 0...255, using: &generator) })
            }
            for blob in blobs { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [blob]) }
            #expect(try Data.fetchAll(db, sql: "SELECT data FROM t ORDER BY rowid") == blobs, "seed \(generator.seed)")
        }
    }
}
