import Quarry
import QuarryTestSupport
import Testing

/// Types that keep what they are decoded from, or encoded into, beyond the record.
@Suite("Containers that are kept") struct KeptContainerTests {
    enum Keys: String, CodingKey { case id, name }

    /// Keeps the container and the decoder.
    final class Reader: Decodable, FetchableRecord {
        static let databaseTableName = "kept"
        let container: KeyedDecodingContainer<Keys>
        let decoder: any Decoder
        let id: Int

        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            container = try decoder.container(keyedBy: Keys.self)
            id = try container.decode(Int.self, forKey: .id)
        }
    }

    private let overDecoder = "a row's decoder has been used after the row"
    private let overEncoder = "a record's encoder has been used after the record"

    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func decodingContainersTellThatTheRowIsGone() throws {
        let queue = try DatabaseQueue()
        var readers: [Reader] = []
        for _ in 0..<3 {
            readers += try queue.read { (db) throws in
                try Reader.fetchAll(db, sql: "SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b'")
            }
        }
        try queue.read { (db) throws in
            let row = try Row.fetchOne(db, sql: "SELECT 3 AS id, 'c' AS name")
            readers.append(try Reader(row: row!))
        }
        #expect(readers.map(\.id) == [1, 2, 1, 2, 1, 2, 3])
        for reader in readers {
            #expect(Self.failure { _ = try reader.container.decode(String.self, forKey: .name) } == overDecoder)
            #expect(Self.failure { _ = try reader.container.decodeIfPresent(Int.self, forKey: .id) } == overDecoder)
            #expect(Self.failure { _ = try reader.decoder.container(keyedBy: Keys.self) } == overDecoder)
            #expect(reader.container.allKeys.isEmpty)
        }
        // Others of the type aren't concerned.
        readers.removeAll()
        #expect(try queue.read { db in try Reader.fetchOne(db, sql: "SELECT 7 AS id")?.id } == 7)
    }

    /// Uses what the records before it have kept.
    struct Curious: Decodable, FetchableRecord {
        /// The containers that the records of one thread keep.
        final class Kept {
            var decoders: [any Decoder] = []
            var values: [any SingleValueDecodingContainer] = []
            var containers: [KeyedDecodingContainer<Keys>] = []
            var failures: [String?] = []
        }

        // Each task has its own.
        @TaskLocal static var kept: SendableBox<Kept>?

        let id: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            id = try container.decode(Int.self, forKey: .id)
            guard let kept = Self.kept?.value else { return }
            kept.failures += kept.decoders.flatMap { decoder in
                [
                    KeptContainerTests.failure { _ = try decoder.container(keyedBy: Keys.self) },
                    KeptContainerTests.failure { _ = try decoder.unkeyedContainer() },
                ]
            }
            kept.failures += kept.values.map { value in KeptContainerTests.failure { _ = try value.decode(Int.self) } }
            kept.failures += kept.containers.map { container in
                KeptContainerTests.failure { _ = try container.superDecoder() }
            }
            #expect(kept.decoders.allSatisfy { $0.codingPath.isEmpty && $0.userInfo.isEmpty })
            kept.decoders.append(decoder)
            kept.values.append(try decoder.singleValueContainer())
            if id == 2 { kept.containers.append(container) }
        }
    }

    /// One thread uses it at a time.
    struct SendableBox<Value>: @unchecked Sendable {
        let value: Value
    }

    /// The decoder of a cursor serves all its rows; what a record was given is for that record alone.
    @Test func aDecoderIsNotTheNextRecords() throws {
        let sql = "SELECT 1 AS id UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4"
        try DatabaseQueue().read { (db) throws in
            let kept = Curious.Kept()
            try Curious.$kept.withValue(SendableBox(value: kept)) {
                let first = try Curious.fetchAll(db, sql: sql)
                let second = try Row.fetchAll(db, sql: sql).map { try Curious(row: $0) }
                #expect((first + second).map(\.id) == [1, 2, 3, 4, 1, 2, 3, 4])
            }
            // Each record has used the decoders and containers of all records before it.
            #expect(kept.decoders.count == 8 && kept.containers.count == 2)
            #expect(Set(kept.failures) == [overDecoder])
        }
    }

    /// Places of decoders that are gone serve others, of other threads too.
    @Test func placesAreUsedAgain() async throws {
        let threads = (0..<4).map { thread in
            OwnThread {
                let queue = try DatabaseQueue()
                var decoders: [any Decoder] = []
                for number in 0..<200 {
                    let row = try queue.read { db in try Row.fetchOne(db, sql: "SELECT ? AS id", arguments: [number]) }
                    let reader = try Reader(row: try #require(row))
                    guard reader.id == number else { return false }
                    decoders.append(reader.decoder)
                    for decoder in decoders.suffix(3) {
                        let error = Self.failure { _ = try decoder.container(keyedBy: Keys.self) }
                        guard error == "a row's decoder has been used after the row" else { return false }
                    }
                }
                return true
            }
        }
        for thread in threads { #expect(try await thread.value) }
    }

    /// A part of a row, whose container is kept.
    struct Outer: Decodable, FetchableRecord {
        let inner: KeyedDecodingContainer<Keys>
        let name: String

        init(from decoder: any Decoder) throws {
            enum Scopes: String, CodingKey { case part }
            inner = try decoder.container(keyedBy: Scopes.self).nestedContainer(keyedBy: Keys.self, forKey: .part)
            name = try inner.decode(String.self, forKey: .name)
        }
    }

    @Test func containersOfScopesTellSoToo() throws {
        let adapter = ScopeAdapter(["part": SuffixRowAdapter(fromIndex: 1)])
        let records = try DatabaseQueue().read { (db) throws in
            try Outer.fetchAll(db, sql: "SELECT 1, 'a' AS name UNION ALL SELECT 2, 'b'", adapter: adapter)
        }
        #expect(records.map(\.name) == ["a", "b"])
        for record in records {
            #expect(Self.failure { _ = try record.inner.decode(String.self, forKey: .name) } == overDecoder)
        }
    }

    /// Keeps the container and the encoder.
    final class Writer: Encodable, PersistableRecord {
        static let databaseTableName = "kept"
        let id: Int
        var container: KeyedEncodingContainer<Keys>?
        var encoder: (any Encoder)?

        init(id: Int) { self.id = id }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(id, forKey: .id)
            try container.encode("n\(id)", forKey: .name)
            (self.container, self.encoder) = (container, encoder)
        }
    }

    @Test func encodingContainersTellThatTheRecordIsOver() throws {
        let writers = (1...4).map { Writer(id: $0) }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE kept (id INTEGER PRIMARY KEY, name TEXT)")
            for writer in writers { try writer.insert(db) }
            for writer in writers { try writer.update(db) }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM kept ORDER BY id") == ["n1", "n2", "n3", "n4"])
            for writer in writers {
                #expect(Self.failure { try writer.container?.encode("x", forKey: .name) } == overEncoder)
                #expect(Self.failure { try writer.container?.encodeNil(forKey: .name) } == overEncoder)
                var late = writer.encoder?.container(keyedBy: Keys.self)
                #expect(Self.failure { try late?.encode(5, forKey: .id) } == overEncoder)
                #expect(Self.failure { try late?.encode("x", forKey: .name) } == overEncoder)
                #expect(Self.failure { try late?.encodeNil(forKey: .name) } == overEncoder)
                var value = writer.encoder?.singleValueContainer()
                #expect(Self.failure { try value?.encode(["name": "x"]) } == overEncoder)
            }
            #expect(try Writer(id: 5).databaseDictionary == ["id": 5.databaseValue, "name": "n5".databaseValue])
        }
        for writer in writers {
            #expect(Self.failure { try writer.container?.encode("x", forKey: .name) } == overEncoder)
        }
    }

    /// Encodes itself once more, into what the records before it were given.
    final class Meddler: Encodable, PersistableRecord {
        static let databaseTableName = "kept"
        let id: Int
        let others: [Meddler]
        var encoder: (any Encoder)?
        var failures: [String?] = []

        init(id: Int, others: [Meddler]) { (self.id, self.others) = (id, others) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(id, forKey: .id)
            for other in others {
                var late = other.encoder?.container(keyedBy: Keys.self)
                failures.append(KeptContainerTests.failure { try late?.encode("late", forKey: .name) })
                var value = other.encoder?.singleValueContainer()
                failures.append(KeptContainerTests.failure { try value?.encode(["name": "late"]) })
            }
            try container.encode("n\(id)", forKey: .name)
            self.encoder = encoder
        }
    }

    /// The state of encoding serves all records; what a record was given is for that record alone.
    @Test func anEncoderIsNotTheNextRecords() throws {
        var records: [Meddler] = []
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE kept (id INTEGER PRIMARY KEY, name TEXT)")
            for id in 1...4 {
                records.append(Meddler(id: id, others: records))
                try records[id - 1].insert(db)
            }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM kept ORDER BY id") == ["n1", "n2", "n3", "n4"])
        }
        #expect(records.map(\.failures.count) == [0, 2, 4, 6])
        #expect(records.flatMap(\.failures).allSatisfy { $0 == overEncoder })
    }

    /// Two containers of one record.
    class Base: Codable {
        var id: Int
        init(id: Int) { self.id = id }
    }

    final class Derived: Base, FetchableRecord, PersistableRecord {
        static let databaseTableName = "kept"
        var name: String

        enum Keys: String, CodingKey { case name }

        init(id: Int, name: String) {
            self.name = name
            super.init(id: id)
        }

        required init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .name)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(name, forKey: .name)
            try super.encode(to: encoder)
        }
    }

    @Test func severalContainersOfARecord() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE kept (id INTEGER PRIMARY KEY, name TEXT)")
            try Derived.insertAll(db, (1...3).map { Derived(id: $0, name: "n\($0)") })
            #expect(try Derived.fetchAll(db).map { "\($0.id) \($0.name)" } == ["1 n1", "2 n2", "3 n3"])
        }
    }
}
