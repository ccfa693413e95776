import Quarry

struct Hero: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var name: String
    var score: Int?

    enum Columns {
        static let score = Column("score")
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

func tour(path: String) async throws -> [Hero] {
    // One connection writes, and several read at the same time.
    let dbPool = try await DatabasePool.open(path: path)

    // A write is a transaction: all of it or nothing.
    try await dbPool.write { db in
        try db.create(table: "hero") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().unique()
            t.column("score", .integer)
        }
        var arthur = Hero(id: nil, name: "Arthur", score: 300)
        try arthur.insert(db)  // arthur.id is 1
    }

    // A read sees one state of the database, even while others write.
    return try await dbPool.read { db in
        try Hero.filter { $0.score >= 100 }.fetchAll(db)
    }
}

extension Hero: ResponseEncodable {}

struct HeroHandlers: Sendable {
    let database: any DatabaseWriter

    /// router.get("heroes", use: handlers.list)
    func list(request: Request, context: BasicRequestContext) async throws -> [Hero] {
        try await database.read { db in
            try Hero.order(\.score.desc).limit(10).fetchAll(db)
        }
    }

    /// router.post("heroes", use: handlers.add)
    func add(request: Request, context: BasicRequestContext) async throws -> Hero {
        let hero = try await request.decode(as: Hero.self, context: context)
        do {
            return try await database.write { db in try hero.inserted(db) }
        } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
            throw HTTPError(.conflict, message: "\(hero.name) exists already.")
        }
    }
}

// Hummingbird's types of these names are replaced by the types below: the library has no dependencies.

protocol ResponseEncodable: Encodable {}

struct BasicRequestContext: Sendable {}

struct Request: Sendable {
    let body: Hero

    func decode(as type: Hero.Type, context: BasicRequestContext) async throws -> Hero { body }
}

struct HTTPError: Error, Equatable {
    enum Status { case conflict }

    let status: Status
    let message: String

    init(_ status: Status, message: String) {
        self.status = status
        self.message = message
    }
}
