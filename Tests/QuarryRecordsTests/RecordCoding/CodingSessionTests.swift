import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryRecords

/// A session serves one record after the other: each decoder and encoder is for its record alone, and a container that
/// is kept is cut off from the session.
@Suite("Coding sessions") struct CodingSessionTests {
    enum Keys: String, CodingKey { case id, name }
    enum OtherKeys: String, CodingKey { case name }

    /// One thread uses it at a time.
    final class Box<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    /// Calls a closure between its two columns.
    struct Player: Decodable, FetchableRecord, Equatable {
        typealias Body = @Sendable (any Decoder, KeyedDecodingContainer<Keys>) throws -> Void

        // Each test sets it for the time of its records.
        @TaskLocal static var between: Body?

        let id: Int
        let name: String

        init(id: Int, name: String) { (self.id, self.name) = (id, name) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            id = try container.decode(Int.self, forKey: .id)
            try Self.between?(decoder, container)
            name = try container.decode(String.self, forKey: .name)
        }
    }

    /// The same for encoding.
    struct Writer: Encodable, PersistableRecord {
        typealias Body = @Sendable (Int, any Encoder) throws -> Void

        static let databaseTableName = "player"

        // Each test sets it for the time of its records.
        @TaskLocal static var between: Body?

        let id: Int

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(id, forKey: .id)
            try Self.between?(id, encoder)
            try container.encode("n\(id)", forKey: .name)
        }
    }

    private static let sql = "SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b' UNION ALL SELECT 3, 'c'"
    private static let players = [Player(id: 1, name: "a"), Player(id: 2, name: "b"), Player(id: 3, name: "c")]
    private static let endedDecoder = "a row's decoder has been used after the row"
    private static let endedEncoder = "a record's encoder has been used after the record"

    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db throws in
            try db.makePlayers()
            try body(db)
        }
    }

    // MARK: - Generations

    /// The session goes on to the second row, and the decoder of the first row doesn't.
    @Test func aDecoderOfTheFirstRowAtTheSecond() throws {
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            let decoders = Box<[any Decoder]>([])
            let failures = Box<[String?]>([])
            var sessions: [AnyObject?] = []
            try Player.$between.withValue({ decoder, _ in
                failures.value += decoders.value.map { decoder in
                    Self.failure { _ = try decoder.container(keyedBy: Keys.self) }
                }
                decoders.value.append(decoder)
            }) {
                for player in Self.players {
                    let row = try #require(try cursor.next())
                    #expect(try Player(row: row) == player)
                    sessions.append(row.attachment)
                }
            }
            #expect(sessions[0] != nil && sessions[0] === sessions[1] && sessions[1] === sessions[2])
            #expect(failures.value == [Self.endedDecoder, Self.endedDecoder, Self.endedDecoder])
            let generations = decoders.value.compactMap { ($0 as? RecordDecoder)?.generation }
            #expect(generations == [generations[0], generations[0] + 1, generations[0] + 2])
        }
    }

    @Test func aContainerOverAFetchOfTheSameType() throws {
        try DatabaseQueue().read { db throws in
            // The closure runs on this thread.
            nonisolated(unsafe) let db = db
            let inner = Box<[Player]>([])
            let outer = try Player.$between.withValue({ decoder, container in
                try Player.$between.withValue(nil) {
                    inner.value += try Player.fetchAll(db, sql: Self.sql)
                    inner.value += try Player.fetchAll(db.cachedStatement(sql: Self.sql))
                }
                // Both are still this record's.
                #expect(container.contains(.name))
                #expect(try decoder.container(keyedBy: OtherKeys.self).decode(String.self, forKey: .name) != "")
            }) { try Player.fetchAll(db.cachedStatement(sql: Self.sql)) }
            #expect(outer == Self.players)
            #expect(inner.value == Array(repeatElement(Self.players, count: 6).joined()))
        }
    }

    /// The inner records have a session that ends before the outer one's.
    @Test func aContainerOfAnInnerRecordInTheOuterOne() throws {
        try DatabaseQueue().read { db throws in
            // The closure runs on this thread.
            nonisolated(unsafe) let db = db
            let failures = Box<[String?]>([])
            let outer = try Player.$between.withValue({ _, _ in
                let kept = Box<[KeyedDecodingContainer<Keys>]>([])
                let inner = try Player.$between.withValue({ _, container in kept.value.append(container) }) {
                    try Player.fetchAll(db, sql: Self.sql)
                }
                #expect(inner == Self.players)
                failures.value += kept.value.map { kept in
                    Self.failure { _ = try kept.decode(Int.self, forKey: .id) }
                }
            }) { try Player.fetchAll(db, sql: Self.sql) }
            #expect(outer == Self.players)
            #expect(failures.value == Array(repeating: Self.endedDecoder, count: 9))
        }
    }

    @Test func aRecordThatInsertsItsOwnTypeWhileItIsEncoded() throws {
        try withPlayers { db throws in
            // The closure runs on this thread.
            nonisolated(unsafe) let db = db
            try Writer.$between.withValue({ id, _ in
                try Writer.$between.withValue(nil) { try Writer(id: id + 10).insert(db, onConflict: .replace) }
            }) {
                for id in 1...4 { try Writer(id: id).insert(db) }
                try Writer.insertAll(db, [5, 6, 7].map { Writer(id: $0) })
                for id in 1...4 { try Writer(id: id).update(db) }
            }
            let names = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id")
            #expect(names == ((1...7).map { "n\($0)" } + (11...17).map { "n\($0)" }))
        }
    }

    @Test func anEncoderOfTheFirstRecordAtTheSecond() throws {
        try withPlayers { db throws in
            let encoders = Box<[any Encoder]>([])
            let failures = Box<[String?]>([])
            try Writer.$between.withValue({ id, encoder in
                failures.value += encoders.value.prefix(id - 1).map { encoder in
                    Self.failure {
                        var container = encoder.container(keyedBy: Keys.self)
                        try container.encode("late", forKey: .name)
                    }
                }
                encoders.value.append(encoder)
            }) { for id in 1...3 { try Writer(id: id).insert(db) } }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id") == ["n1", "n2", "n3"])
            #expect(failures.value == [Self.endedEncoder, Self.endedEncoder, Self.endedEncoder])
        }
    }

    // MARK: - Threads

    /// Synchronous also for tests that aren't.
    private static func access<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try DatabaseQueue().write(body)
    }

    /// The thread sanitizer finds it if another thread reads more than the generation.
    @Test func keptDecodersOnAnotherThread() async throws {
        func decode(_ db: Database) throws -> OwnThread<Bool> {
            let cursor = try Row.fetchCursor(
                db,
                sql: "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'a' AS name FROM n")
            let kept = Box<(decoder: (any Decoder)?, container: KeyedDecodingContainer<Keys>?)>((nil, nil))
            func next() throws -> Player { try Player(row: try #require(try cursor.next())) }
            _ = try Player.$between.withValue({ kept.value.container = $1 }, operation: next)
            _ = try Player.$between.withValue({ decoder, _ in kept.value.decoder = decoder }, operation: next)
            let thread = OwnThread {
                (0..<1_000).allSatisfy { _ in
                    let decoder = Self.failure { _ = try kept.value.decoder?.container(keyedBy: Keys.self) }
                    let container = Self.failure { _ = try kept.value.container?.decode(Int.self, forKey: .id) }
                    return decoder == Self.endedDecoder && container == Self.endedDecoder
                }
            }
            for id in 3...1_000 { #expect(try next().id == id) }
            return thread
        }
        #expect(try await Self.access(decode).value)
    }

    @Test func keptEncodersOnAnotherThread() async throws {
        func encode(_ db: Database) throws -> OwnThread<Bool> {
            try db.makePlayers()
            let kept = Box<(any Encoder)?>(nil)
            try Writer.$between.withValue(
                { _, encoder in kept.value = encoder }, operation: { try Writer(id: 1).insert(db) })
            let thread = OwnThread {
                (0..<1_000).allSatisfy { _ in
                    var container = kept.value?.container(keyedBy: Keys.self)
                    return Self.failure { try container?.encode("late", forKey: .name) } == Self.endedEncoder
                }
            }
            for id in 2...1_000 { try Writer(id: id).insert(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player WHERE name = 'n' || id") == 1_000)
            return thread
        }
        #expect(try await Self.access(encode).value)
    }

    // MARK: - Containers

    @Test func theLayoutOfContainersIsKnown() { #expect(ContainerLayout.isKnown) }

    /// Both containers are cut off, and the session is gone although they are kept.
    @Test func keptContainersDontKeepTheSession() throws {
        weak var session: DecodingSession?
        let kept = Box<(keys: KeyedDecodingContainer<Keys>, others: KeyedDecodingContainer<OtherKeys>)?>(nil)
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            let row = try #require(try cursor.next())
            let found = Box<DecodingSession?>(nil)
            _ = try Player.$between.withValue({ decoder, container in
                found.value = (decoder as? RecordDecoder)?.session
                kept.value = (container, try decoder.container(keyedBy: OtherKeys.self))
            }) { try Player(row: row) }
            #expect(row.attachment == nil)
            session = found.value
            #expect(session != nil)
        }
        #expect(session == nil)
        let containers = try #require(kept.value)
        #expect(Self.failure { _ = try containers.keys.decode(Int.self, forKey: .id) } == Self.endedDecoder)
        #expect(Self.failure { _ = try containers.keys.decodeNil(forKey: .id) } == Self.endedDecoder)
        #expect(Self.failure { _ = try containers.keys.superDecoder() } == Self.endedDecoder)
        #expect(Self.failure { _ = try containers.others.decode(String.self, forKey: .name) } == Self.endedDecoder)
        #expect(!containers.keys.contains(.id) && containers.keys.allKeys.isEmpty && containers.keys.codingPath.isEmpty)
    }

    /// They can't throw, and write nothing.
    @Test func nestedContainersOfAKeptContainer() throws {
        final class Keeper: Encodable, PersistableRecord {
            static let databaseTableName = "player"
            var container: KeyedEncodingContainer<Keys>?

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode("kept", forKey: .name)
                self.container = container
            }
        }
        try withPlayers { db throws in
            let keepers = [Keeper(), Keeper()]
            for keeper in keepers { try keeper.insert(db) }
            for keeper in keepers {
                var container = try #require(keeper.container)
                var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .name)
                try nested.encode("late", forKey: .name)
                var list = container.nestedUnkeyedContainer(forKey: .name)
                try list.encode("late")
                var value = container.superEncoder(forKey: .name).singleValueContainer()
                try value.encode("late")
                var others = container.superEncoder().container(keyedBy: Keys.self)
                _ = Self.failure { try others.encode("late", forKey: .name) }
                #expect(Self.failure { try container.encode("late", forKey: .name) } == Self.endedEncoder)
            }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player") == ["kept", "kept"])
        }
    }

    /// A key table finds keys of one type by their bytes, and others by their names.
    @Test func keysOfTwoTypesInOneRecord() throws {
        struct Halves: Encodable, PersistableRecord {
            static let databaseTableName = "player"
            let id: Int

            func encode(to encoder: any Encoder) throws {
                var ids = encoder.container(keyedBy: Keys.self)
                try ids.encode(id, forKey: .id)
                var names = encoder.container(keyedBy: OtherKeys.self)
                try names.encode("n\(id)", forKey: .name)
            }
        }
        try withPlayers { db throws in
            for id in 1...4 { try Halves(id: id).insert(db) }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id") == ["n1", "n2", "n3", "n4"])
        }
    }

    /// More columns than a table of names remembers.
    @Test func manyColumnsInOrder() throws {
        struct Wide: EncodableRecord, PersistableRecord {
            static let databaseTableName = "wide"
            let first: Int

            func encode(to container: inout PersistenceContainer) {
                for column in 0..<300 { container["c\(column)"] = first + column }
            }
        }
        try DatabaseQueue().write { db throws in
            let columns = (0..<300).map { "c\($0) INTEGER" }.joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE wide (\(columns))")
            for first in [0, 1000, 2000] { try Wide(first: first).insert(db) }
            #expect(try Int.fetchAll(db, sql: "SELECT c299 FROM wide ORDER BY 1") == [299, 1299, 2299])
        }
    }
}
