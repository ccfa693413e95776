import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct StorageTests {
    private let dbQueue: DatabaseQueue

    init() throws { dbQueue = try DatabaseQueue() }

    @Test func blobsAreData() throws {
        let value = try #require(try dbQueue.read { db in try DatabaseValue.fetchOne(db, sql: "SELECT x'0102'") })
        guard case .blob(let data) = value.storage else {
            Issue.record("\(value) is no blob")
            return
        }
        #expect(data == Data([1, 2]))
        #expect(DatabaseValue(storage: .blob(data)) == value)
        #expect(value.storage.value as? Data == data)
        // Bytes are a type of values as before.
        #expect([UInt8].fromDatabaseValue(value) == [1, 2])
        #expect(DatabaseValue(value: data) == value && DatabaseValue(value: [1, 2] as [UInt8]) == value)
        #expect(StatementArguments([data, 1] as [Any]) == [data, 1])
    }

    @Test func thereAndBack() throws {
        let storages: [DatabaseValue.Storage] = [.null, .int64(1), .double(1.5), .string("a"), .blob(Data([1]))]
        for storage in storages {
            #expect(DatabaseValue(storage: storage).storage == storage)
            let stored = try dbQueue.read { db in
                try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [DatabaseValue(storage: storage)])
            }
            #expect(stored?.storage == storage || storage == .null)
        }
        #expect(storages.map { $0.value.map { "\(type(of: $0))" } } == [nil, "Int64", "Double", "String", "Data"])
        #expect(DatabaseValue(storage: .double(.nan)).isNull)
    }

    @Test func storagesOfEqualValues() {
        #expect(1.databaseValue == 1.0.databaseValue)
        #expect(1.databaseValue.storage != 1.0.databaseValue.storage)
        #expect(DatabaseValue.Storage.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test func untypedValues() throws {
        try dbQueue.read { db throws in
            let sql = "SELECT 1 AS id, 'a' AS name, NULL AS none, 2.5 AS real, x'01' AS blob"
            let cursor = try Row.fetchCursor(db, sql: sql)
            let live = try #require(try cursor.next())
            for row in [live, live.copy()] {
                let values: [(any DatabaseValueConvertible)?] = (0..<5).map { row[$0] }
                #expect(values[0] as? Int64 == 1)
                #expect(values[1] as? String == "a")
                #expect(values[2] == nil)
                #expect(values[3] as? Double == 2.5)
                #expect(values[4] as? Data == Data([1]))
                #expect(row[4] as? Data == Data([1]))
                #expect(row["blob"] as? Data == Data([1]))
                #expect(row[Column("blob")] as? Data == Data([1]))
                #expect(row["missing"] == nil)
                #expect(row["blob"] as [UInt8] == [1])
                #expect(row.databaseValues.last?.storage == .blob(Data([1])))
            }
        }
    }

    @Test func anIndexOutOfRangeEndsTheProcess() async {
        let untyped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row[-1] as (any DatabaseValueConvertible)?
        }
        let message = "column index -1 is out of range 0..<1 - row: [a:INTEGER]"
        let output = untyped.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(output.contains(message))
    }

    @Test func rowsOfDictionaries() throws {
        struct Player: Codable, FetchableRecord, Equatable {
            var id: Int
            var name: String?
        }
        let player = try Player(row: Row(["name": nil, "id": 1]))
        #expect(player == Player(id: 1, name: nil))
        let values: [String: (any DatabaseValueConvertible)?] = ["id": 1, "data": Data([1])]
        #expect(Array(Row(values).columnNames) == ["data", "id"])
        let any: [AnyHashable: Any] = ["id": Date.self]
        #expect(Row(any) == nil)
    }

    @Test func requestsWithoutARowType() throws {
        struct Player: Codable, FetchableRecord, Equatable { var id: Int }
        try dbQueue.read { db throws in
            let request = SQLRequest(sql: "SELECT ? AS id", arguments: [1])
            #expect(try request.fetchAll(db) == [["id": 1]])
            #expect(try Player.fetchAll(db, SQLRequest(sql: "SELECT 2 AS id")) == [Player(id: 2)])
            #expect(try Player.fetchOne(db, SQLRequest(literal: "SELECT \(3) AS id")) == Player(id: 3))
            let typed: SQLRequest<Player> = SQLRequest(sql: "SELECT 4 AS id")
            #expect(try typed.fetchOne(db) == Player(id: 4))
        }
    }

    private struct Fast: Codable, DatabaseValueConvertible, StatementColumnConvertible, Equatable {
        var value: Int64

        init(value: Int64) { self.value = value }

        init(sqliteStatement: SQLiteStatement, index: CInt) {
            value = StatementColumns.int64(sqliteStatement, index)
        }

        var databaseValue: DatabaseValue { value.databaseValue }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Fast? {
            Int64.fromDatabaseValue(dbValue).map { Fast(value: $0) }
        }
    }

    @Test func nullIsNoFastValueOfARecord() throws {
        struct Record: Decodable, FetchableRecord, Equatable { var fast: Fast? }
        struct Strict: Decodable, FetchableRecord { var fast: Fast }
        try dbQueue.read { db throws in
            let sql = "SELECT NULL AS fast UNION ALL SELECT 4 UNION ALL SELECT NULL"
            let expected = [nil, Fast(value: 4), nil].map { Record(fast: $0) }
            #expect(try Record.fetchAll(db, sql: sql) == expected)
            #expect(try Row.fetchAll(db, sql: sql).map { try Record(row: $0) } == expected)
            for sql in ["SELECT NULL AS fast", "SELECT 4 AS fast UNION ALL SELECT NULL"] {
                #expect(throws: RowDecodingError.self) { try Strict.fetchAll(db, sql: sql) }
            }
        }
    }

    @Test func aColumnOfNumbersAndTexts() throws {
        struct System: Decodable, FetchableRecord, Equatable {
            var code: String
            var note: String?
        }
        try dbQueue.write { db throws in
            try db.execute(sql: "CREATE TABLE crs (code, note); INSERT INTO crs VALUES (4326, 1.5), ('IAU_2015', NULL)")
            let expected = [System(code: "4326", note: "1.5"), System(code: "IAU_2015", note: nil)]
            #expect(try System.fetchAll(db, sql: "SELECT * FROM crs") == expected)
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM crs").map { try System(row: $0) } == expected)
            #expect(try String.fetchAll(db, sql: "SELECT code FROM crs") == ["4326", "IAU_2015"])
        }
    }

    /// Errors of a type's own decoding may hold the value.
    @Test func errorsOfDecodingHideValues() throws {
        enum Color: String, Codable { case red }
        struct Pigment: Decodable, FetchableRecord { var color: Color }
        for isPublic in [true, false] {
            var configuration = Configuration()
            configuration.publicStatementArguments = isPublic
            let error = try DatabaseQueue(configuration: configuration).read { db in
                #expect(throws: RowDecodingError.self) {
                    try Pigment.fetchAll(db, sql: "SELECT ? AS color", arguments: ["secret"])
                }
            }
            #expect(error?.description.contains("secret") == isPublic, "\(error?.description ?? "")")
        }
    }

    @Test func unscopedRowsHaveNoPrefetchedRows() throws {
        struct Child: Codable, FetchableRecord, PersistableRecord { var parentId: Int }
        struct Parent: Codable, FetchableRecord, PersistableRecord {
            static let children = hasMany(Child.self)
            var id: Int
        }
        try dbQueue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (parentId INTEGER REFERENCES parent);
                    INSERT INTO parent VALUES (1);
                    """)
            let request = Parent.including(all: Parent.children)
            let empty = try #require(try Row.fetchOne(db, request))
            #expect(empty.unscoped == ["id": 1])
            #expect(
                empty.debugDescription == """
                    ▿ [id:1]
                      + children: 0 row
                    """)
            try db.execute(sql: "INSERT INTO child VALUES (1), (1)")
            let row = try #require(try Row.fetchOne(db, request))
            #expect(row.debugDescription.hasSuffix("+ children: 2 rows"))
            #expect(row.unscoped.prefetchedRows.isEmpty && !row.prefetchedRows.isEmpty)
        }
    }
}
