import Quarry
import QuarryTestSupport

/// A database in the midst of whose work something is done, and what that has at hand.
///
/// `@unchecked Sendable`: a stage is used by the one thread that runs its case.
final class ReentrancyStage: @unchecked Sendable {
    let kind: Kind
    let queue: any DatabaseWriter
    let other: DatabaseQueue
    private let action: ReentrancyAction
    /// How often the action may still run: what it does may lead to the same place again.
    private var fuse = 2
    /// Objects that an action leaves behind until the case ends.
    var kept: [AnyObject] = []
    /// The cursor and the statement that are in use, where there is one.
    var cursor: FetchCursor<Row>?
    var statement: Statement?
    private(set) var wasReached = false

    /// The kind of the database.
    enum Kind: CaseIterable {
        case memory, walQueue, pool
    }

    /// - parameter path: a missing file, for a database that isn't in memory.
    init(_ kind: Kind, path: String, cacheCapacity: Int, action: ReentrancyAction) throws {
        var configuration = Configuration()
        configuration.statementCacheCapacity = cacheCapacity
        self.kind = kind
        switch kind {
        case .memory:
            queue = try DatabaseQueue(configuration: configuration)
        case .walQueue:
            configuration.journalMode = .wal
            configuration.synchronous = .off
            queue = try DatabaseQueue(path: path, configuration: configuration)
        case .pool:
            configuration.synchronous = .off
            queue = try DatabasePool(path: path, configuration: configuration)
        }
        other = try DatabaseQueue()
        self.action = action
        try other.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)") }
        try queue.writeWithoutTransaction { db in
            addExtensions(db)
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT);
                    CREATE TABLE sorted (id INTEGER PRIMARY KEY, a TEXT COLLATE swift);
                    CREATE INDEX sortedByA ON sorted (a);
                    CREATE TABLE log (a);
                    CREATE TRIGGER logged AFTER INSERT ON log BEGIN SELECT f(new.a); END;
                    CREATE VIRTUAL TABLE document USING fts5(a, tokenize = 'midst');
                    INSERT INTO t VALUES (1, 1, 'b'), (2, 2, 'a'), (3, 3, 'c'), (4, x'0102030405', 'd');
                    INSERT INTO sorted VALUES (1, 'b'), (2, 'a');
                    INSERT INTO document VALUES ('a b'), ('b c');
                    """)
        }
    }

    /// Does what is to be done in the midst of something.
    func reach(_ db: Database) throws {
        wasReached = true
        guard fuse > 0, !isPreparing else { return }
        fuse -= 1
        try action.run(self, db)
    }

    /// The same, from a closure that has no connection.
    func reach() throws {
        wasReached = true
        guard fuse > 0, !isPreparing else { return }
        try queue.unsafeReentrantWrite { db in try reach(db) }
    }

    /// While true, nothing is done: the tables are made, or looked at.
    var isPreparing = true

    /// Adds the functions, the collation and the tokenizer that SQL calls: `f`, `g`, `swift`, `midst` and `hits`.
    func addExtensions(_ db: Database) {
        db.add(function: function)
        db.add(function: DatabaseFunction("g", argumentCount: 1, aggregate: MidstAggregate.self))
        db.add(collation: collation)
        db.add(tokenizer: MidstTokenizer.self)
        db.add(
            function: FTS5Function("hits") { [unowned self] match in
                try reach()
                return try match.instanceCount()
            })
    }

    var function: DatabaseFunction {
        DatabaseFunction("f", argumentCount: 1) { [unowned self] values in
            try reach()
            return values[0]
        }
    }

    var collation: DatabaseCollation {
        DatabaseCollation("swift") { [unowned self] lhs, rhs in
            try? reach()
            return lhs == rhs ? 0 : lhs < rhs ? -1 : 1
        }
    }

    /// The stage of the thread, for what SQLite or the standard library makes.
    @TaskLocal static var current: ReentrancyStage?
}

/// Sums, and does it in the midst of rows, and at their end.
struct MidstAggregate: DatabaseWindowAggregate {
    private var sum = 0

    mutating func step(_ dbValues: [DatabaseValue]) throws {
        sum += Int.fromDatabaseValue(dbValues[0]) ?? 0
        if sum > 1 { try ReentrancyStage.current?.reach() }
    }

    mutating func inverse(_ dbValues: [DatabaseValue]) throws {
        sum -= Int.fromDatabaseValue(dbValues[0]) ?? 0
        try ReentrancyStage.current?.reach()
    }

    func value() throws -> (any DatabaseValueConvertible)? {
        try ReentrancyStage.current?.reach()
        return sum
    }
}

/// Words between spaces.
final class MidstTokenizer: FTS5TextTokenizer {
    static let name = "midst"

    init(db: Database, arguments: [String]) throws { try ReentrancyStage.current?.reach(db) }

    func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws {
        for word in text.split(separator: UInt8(ascii: " ")) {
            try ReentrancyStage.current?.reach()
            try tokens.add(utf8: UnsafeBufferPointer(rebasing: word), range: word.startIndex..<word.endIndex)
        }
    }
}

/// A record that does it while it is encoded, decoded, and called back.
struct MidstRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "t"

    var id: Int64?
    var a: Int?
    var b: String?
    /// The calls in which it is done.
    var place = ""

    enum CodingKeys: CodingKey { case id, a, b }

    init(id: Int64? = nil, a: Int? = 7, b: String? = "x", place: String) {
        (self.id, self.a, self.b, self.place) = (id, a, b, place)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int64?.self, forKey: .id)
        try ReentrancyStage.current?.reach()
        a = try? container.decode(Int?.self, forKey: .a)
        b = try container.decode(String?.self, forKey: .b)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(a, forKey: .a)
        if place == "encode" { try ReentrancyStage.current?.reach() }
        try container.encode(b, forKey: .b)
    }

    private func called(_ name: String, _ db: Database? = nil) throws {
        guard place == name, let stage = ReentrancyStage.current else { return }
        if let db { try stage.reach(db) } else { try stage.reach() }
    }

    mutating func willInsert(_ db: Database) throws { try called("willInsert", db) }

    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try called("beforeInsert", db)
        _ = try insert()
        try called("afterInsert", db)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        try? called("didInsert")
    }

    func willUpdate(_ db: Database, columns: Set<String>) throws { try called("willUpdate", db) }

    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        try called("beforeUpdate", db)
        _ = try update()
        try called("afterUpdate", db)
    }

    func didUpdate(_ updated: PersistenceSuccess) { try? called("didUpdate") }

    func willSave(_ db: Database) throws { try called("willSave", db) }

    func didSave(_ saved: PersistenceSuccess) { try? called("didSave") }

    func willDelete(_ db: Database) throws { try called("willDelete", db) }

    func didDelete(deleted: Bool) { try? called("didDelete") }
}

/// A record that does it while its row is read.
struct MidstRow: FetchableRecord {
    let count: Int

    init(row: Row) throws {
        count = row.count
        _ = row["a"] as DatabaseValue?
        try ReentrancyStage.current?.reach()
        // The row is still there, or says that it isn't.
        _ = try row.decode(Int64.self, atIndex: 0)
    }
}

/// A value that does it while it is bound or read.
struct MidstValue: DatabaseValueConvertible {
    var databaseValue: DatabaseValue {
        try? ReentrancyStage.current?.reach()
        return 5.databaseValue
    }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> MidstValue? {
        try? ReentrancyStage.current?.reach()
        return MidstValue()
    }
}
