import Quarry

struct Hero: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var name: String
    var score: Int?

    enum Columns {
        static let name = Column("name")
        static let score = Column("score")
    }
}

func tour(path: String) async throws -> [String] {
    // One connection that writes, several that read at the same time.
    let dbPool = try DatabasePool(path: path)

    // A write is a transaction: all of it or nothing.
    try await dbPool.write { db in
        try db.create(table: "hero") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().unique()
            t.column("score", .integer)
        }
        for (name, score) in [("Arthur", 300), ("Barbara", 700), ("Craig", nil)] {
            _ = try Hero(id: nil, name: name, score: score).inserted(db)
        }
    }

    // A read sees one state of the database, whatever is written meanwhile.
    let winners = try await dbPool.read { db in
        try Hero.filter { $0.score >= 500 }.order(\.name).fetchAll(db)
    }
    return winners.map { "\($0.name): \($0.score ?? 0)" }
}

struct HeroHandlers: Sendable {
    let database: any DatabaseWriter

    /// GET /heroes?minimum=500
    func list(minimum: Int) async throws -> [Hero] {
        try await database.read { db in
            try Hero.filter { $0.score >= minimum }.order(\.score.desc).fetchAll(db)
        }
    }

    /// POST /heroes
    func add(_ hero: Hero) async throws -> Hero {
        do {
            return try await database.write { db in try hero.inserted(db) }
        } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
            throw HTTPError(status: 409, reason: "\(hero.name) exists already")
        }
    }
}

/// Stands in for the error that a web framework answers with.
struct HTTPError: Error, Equatable {
    var status: Int
    var reason: String
}
