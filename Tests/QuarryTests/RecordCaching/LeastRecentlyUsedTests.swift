import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCaching
@testable import QuarryCore

/// The list of the records that were used last, against a simple model.
@Suite struct LeastRecentlyUsedTests {
    private final class Object {
        let number: Int

        init(_ number: Int) { self.number = number }
    }

    @Test func theLeastRecentlyUsedGoes() {
        var cache = LeastRecentlyUsed(capacity: 4)
        for key in 1...4 { cache.insert(Object(key), for: RowKey(key)) }
        #expect(cache.use(RowKey(1)) != nil)
        cache.insert(Object(5), for: RowKey(5))
        #expect(cache.keys == [5, 1, 4, 3])
        #expect(cache.use(RowKey(2)) == nil)
        #expect(cache.evictionCount == 1 && cache.count == 4)
        #expect(cache.takeRemoved().count == 1 && cache.takeRemoved().isEmpty)
    }

    @Test func loweringTheCapacityRemovesTheLeastRecentlyUsed() {
        var cache = LeastRecentlyUsed(capacity: 4)
        for key in 1...4 { cache.insert(Object(key), for: RowKey(key)) }
        #expect(cache.use(RowKey(1)) != nil)
        cache.capacity = 2
        #expect(cache.keys == [1, 4] && cache.evictionCount == 2 && cache.takeRemoved().count == 2)
        cache.capacity = 3
        for key in 5...6 { cache.insert(Object(key), for: RowKey(key)) }
        #expect(cache.keys == [6, 5, 1] && cache.evictionCount == 3)
        for capacity in [0, -1, .min] {
            cache.capacity = capacity
            #expect(cache.keys == [])
            cache.insert(Object(7), for: 7)
            #expect(cache.keys == [])
        }
        cache.capacity = .max
        for key in 1...100 { cache.insert(Object(key), for: RowKey(key)) }
        #expect(cache.count == 100)
    }

    @Test(arguments: [0, -1]) func noCapacity(capacity: Int) {
        var cache = LeastRecentlyUsed(capacity: capacity)
        cache.insert(Object(1), for: 1)
        #expect(cache.count == 0 && cache.use(1) == nil)
    }

    @Test(arguments: [1, 2, 5, 20]) func followsAModel(firstCapacity: Int) {
        var capacity = firstCapacity
        var random = SeededGenerator()
        print("LeastRecentlyUsedTests: seed \(random.seed)")
        var cache = LeastRecentlyUsed(capacity: capacity)
        var model: [(key: Int, number: Int)] = []
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<10, using: &random)
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                #expect((cache.use(RowKey(key)) as? Object)?.number == index.map { model[$0].number })
                if let index { model.insert(model.remove(at: index), at: 0) }
            case 50..<80:
                cache.insert(Object(step), for: RowKey(key))
                if let index { model.remove(at: index) }
                model.insert((key, step), at: 0)
                model = Array(model.prefix(capacity))
            case 80..<90:
                capacity = Int.random(in: 0...12, using: &random)
                cache.capacity = capacity
                model = Array(model.prefix(capacity))
            case 90..<99:
                cache.remove(RowKey(key))
                if let index { model.remove(at: index) }
            default:
                cache.removeAll()
                model = []
            }
            #expect(cache.keys == model.map { RowKey($0.key) })
            _ = cache.takeRemoved()
        }
    }
}

/// Which records a commit removes, without a database.
@Suite struct RecordCacheTests {
    private final class Object {}

    private func found(_ asked: RowKey, stored: RowKey?, tables: [String] = ["player"]) -> RecordCache.Found {
        var region = DatabaseRegion()
        for table in tables { region.formUnion(DatabaseRegion(TableName(schema: "main", name: table))) }
        return RecordCache.Found(
            column: "id", askedKey: asked, storedKey: stored, record: Object(), region: region)
    }

    private func changes(_ table: String, _ keys: [RowKey]? = nil) -> DatabaseChanges {
        var noted = KeyChanges()
        for key in keys ?? [] { noted.note(.updated(columns: ["name"]), of: key) }
        let name = TableName(schema: "main", name: table)
        return DatabaseChanges(
            DatabaseRegion(TableName(schema: "main", name: table)), keys == nil ? [:] : [name: noted])
    }

    @Test func aCommitRemovesItsKeys() {
        var cache = RecordCache(table: "player", capacity: 10)
        for key in 1...3 { cache.didRead(found(RowKey(key), stored: RowKey(key)), cache.ticket) }
        cache.commitDidHappen(changes("player", [2, 9]))
        #expect(cache.record(1) != nil && cache.record(2) == nil && cache.record(3) != nil)
        cache.commitDidHappen(changes("team", [1]))
        #expect(cache.records.count == 2)
        cache.commitDidHappen(changes("player"))
        #expect(cache.records.count == 0 && cache.keyColumn == "id")
    }

    @Test func aChangeOfTheSchemaForgetsAll() {
        var cache = RecordCache(table: "player", capacity: 10)
        cache.didRead(found(1, stored: 1), cache.ticket)
        cache.commitDidHappen(changes("sqlite_master"))
        #expect(cache.records.count == 0 && cache.keyColumn == nil)
        cache.didRead(found(1, stored: 1), cache.ticket)
        cache.commitDidHappen(.unknown)
        #expect(cache.records.count == 0)
    }

    /// A read that began before a commit may not have seen it.
    @Test func aReadThatACommitOvertakes() {
        var cache = RecordCache(table: "player", capacity: 10)
        let ticket = cache.ticket
        cache.commitDidHappen(changes("player", [1]))
        cache.didRead(found(1, stored: 1), ticket)
        #expect(cache.records.count == 0)
        cache.didRead(found(1, stored: 1), cache.ticket)
        #expect(cache.records.count == 1)
        let second = cache.ticket
        cache.removeAll()
        cache.didRead(found(1, stored: 1), second)
        #expect(cache.records.count == 0)
    }

    @Test func aRowWithAnotherKey() {
        var cache = RecordCache(table: "country", capacity: 10)
        cache.didRead(found("fr", stored: "FR", tables: ["country"]), cache.ticket)
        cache.didRead(found("1", stored: 1, tables: ["country"]), cache.ticket)
        cache.didRead(found("x", stored: nil, tables: ["country"]), cache.ticket)
        #expect(cache.records.count == 0 && cache.keyColumn == "id")
    }

    @Test func otherTablesThatTheQueryReads() {
        var cache = RecordCache(table: "player", capacity: 10)
        cache.didRead(found(1, stored: 1, tables: ["player", "team"]), cache.ticket)
        cache.commitDidHappen(changes("country", [1]))
        #expect(cache.records.count == 1)
        cache.commitDidHappen(changes("team", [7]))
        #expect(cache.records.count == 0)
    }
}
