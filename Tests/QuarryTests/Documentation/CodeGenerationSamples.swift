import Foundation
import Quarry
import Testing

// The code of the article "Code from a database", as `quarry-codegen` writes it.

/// A row of the table `museum`.
struct Museum: Codable, Hashable, Sendable, Identifiable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "museum"

    var id: Int64?
    var name: String

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension Museum {
    static let paintings = hasMany(Painting.self)
}

/// A row of the table `painting`.
struct Painting: Codable, Hashable, Sendable, Identifiable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "painting"

    var id: Int64?
    var fullTitle: String
    var views: Int = 0
    var museumId: Int64?

    enum Columns {
        static let id = Column("id")
        static let fullTitle = Column("full title")
        static let views = Column("views")
        static let museumId = Column("museumId")
    }

    enum CodingKeys: String, CodingKey {
        case id
        case fullTitle = "full title"
        case views
        case museumId
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension Painting {
    static let museum = belongsTo(Museum.self)
}

/// The schema: tables, indexes, views and triggers.
enum DatabaseSchema {
    /// Creates the schema in a database that hasn't got it. Later changes are registered after it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            if try !db.tableExists("museum") { try createSchema(db) }
        }
        return migrator
    }

    /// Creates all there is, in an empty database.
    static func createSchema(_ db: Database) throws {
        try db.create(table: "museum") { t in
            t.column("id", .integer).primaryKey()
            t.column("name", .text).notNull().unique()
        }
        try db.create(table: "painting") { t in
            t.column("id", .integer).primaryKey()
            t.column("full title", .text).notNull()
            t.column("views", .integer).notNull().defaults(sql: "0")
            t.column("museumId", .integer).references("museum", column: "id")
        }
        try db.execute(
            sql: """
                CREATE INDEX painting_title ON painting (lower("full title"))
                """)
    }
}

@Suite struct CodeGenerationSamples {
    @Test func generatedRecords() throws {
        let dbQueue = try DatabaseQueue()
        try DatabaseSchema.migrator.migrate(dbQueue)
        try dbQueue.write { (db) throws in
            var museum = Museum(name: "Louvre")
            try museum.insert(db)
            var painting = Painting(fullTitle: "La Joconde", museumId: museum.id)
            try painting.insert(db)
            #expect(try Painting.fetchAll(db) == [Painting(id: 1, fullTitle: "La Joconde", views: 0, museumId: 1)])
            #expect(try Painting.fetchOne(db, id: 1) == painting)
            #expect(try Painting.including(required: Painting.museum).fetchCount(db) == 1)
            #expect(try museum.request(for: Museum.paintings).fetchAll(db) == [painting])
            #expect(try Painting.filter { $0.views == 0 }.fetchCount(db) == 1)
        }
    }
}
