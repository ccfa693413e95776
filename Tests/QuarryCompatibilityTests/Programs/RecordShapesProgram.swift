import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Classes, constants and records that aren't Codable; columns as enums, and as closures.
enum RecordShapesProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "place") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("favorite", .boolean).notNull().defaults(to: false)
                t.column("longitude", .double).notNull()
                t.column("latitude", .double).notNull()
            }
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("year", .integer).defaults(to: 1900)
                t.column("kind", .text).notNull().defaults(to: "novel")
            }
            try db.create(table: "appConfiguration") { t in
                t.primaryKey("id", .integer, onConflict: .replace).check { $0 == 1 }
                t.column("flag", .boolean).notNull()
                t.column("text", .text).notNull()
            }
        }

        try dbQueue.write { db in
            var place = Place(id: nil, title: "Paris", isFavorite: true, longitude: 2.25, latitude: 48.5)
            try place.insert(db)
            let other = try Place(id: nil, title: "Oslo", isFavorite: false, longitude: 10.75, latitude: 59.75)
                .insertAndFetch(db)
            print(place.id ?? -1, other.title, other.id ?? -1)
            print(try Place.filter(Place.Columns.favorite).fetchAll(db).map(\.title))
            print(try Place.filter { $0.latitude > 50 && !$0.favorite }.fetchOne(db)?.title ?? "none")
            print(
                try Place.select { [$0.title, $0.longitude] }.order { $0.title.desc }.asRequest(of: Row.self).fetchAll(
                    db))
            print(try Place.select { $0.latitude }.asRequest(of: Double.self).fetchSet(db).sorted())
            print(try Place.select({ average($0.longitude) }, as: Double.self).fetchOne(db) ?? -1)
            print(try place.databaseDictionary.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
            print(Place(row: ["id": 5, "title": "Rome", "favorite": 1, "longitude": 12.5, "latitude": 41.75]).title)
            print(
                Place(row: Row(["id": nil, "title": "Bern", "favorite": false, "longitude": 7.5, "latitude": 47])).id
                    ?? -1)
        }

        // Constants and classes ask for what the database has made of them.
        try dbQueue.write { db in
            let partial = PartialBook(title: "Walden")
            let book = try partial.insertAndFetch(db, as: Book.self)
            print(book.id, book.title, book.year ?? -1, book.kind)
            let year = try partial.insertAndFetch(db, selection: [Column("year")]) { statement in
                try Int.fetchOne(statement)
            }
            print("year", year ?? -1)
            let saved = try Book(id: 1, title: "Walden; or, Life in the Woods", year: 1854, kind: .essay).saveAndFetch(
                db)
            print(saved.title, saved.kind.rawValue)
            let count = try book.updateAndFetch(db, selection: [Column("title")]) { try String.fetchAll($0) }
            print(count)
            print(try Book.filter { $0.kind == Book.Kind.essay }.fetchCount(db))
            print(try Book.updateAll(db) { [$0.kind.set(to: Book.Kind.essay), $0.year += 1] })
            print(try Book.order { [$0.year, $0.title] }.fetchAll(db).map { "\($0.title) \($0.year ?? 0)" })
            print(try Book.filter { $0.year == 1901 }.select({ $0.title }, as: String.self).fetchAll(db))
        }

        try dbQueue.write { db in
            let novel = Novel(title: "Emma")
            try novel.insert(db)
            print("class", novel.id ?? -1)
            let before = try novel.databaseDictionary["title"] ?? .null
            novel.title = "Persuasion"
            print(before, try novel.databaseChanges(from: Novel(title: "Emma")).keys.sorted())
            try novel.update(db, columns: [Column("title")])
            print(try Novel.fetchOne(db, key: novel.id)?.title ?? "none", try Novel.fetchCount(db))
            let copy = try Novel.fetchOne(db, key: novel.id)!
            print(novel.databaseEquals(copy), try copy.updateChanges(db, from: novel))
        }

        // A table of one row.
        try dbQueue.write { db in
            var configuration = try AppConfiguration.find(db)
            print(configuration.flag, configuration.text)
            try configuration.updateChanges(db) { $0.text = "changed" }
            configuration.flag = true
            try configuration.save(db)
            print(
                try AppConfiguration.find(db).text, try AppConfiguration.find(db).flag,
                try AppConfiguration.fetchCount(db))
        }
    }
}

private struct Place: FetchableRecord, MutablePersistableRecord {
    enum Columns: String, ColumnExpression {
        case id, title, favorite, longitude, latitude
    }

    var id: Int64?
    var title: String
    var isFavorite: Bool
    var longitude: Double
    var latitude: Double

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension Place {
    fileprivate init(row: Row) {
        id = row[Columns.id]
        title = row[Columns.title]
        isFavorite = row[Columns.favorite]
        longitude = row[Columns.longitude]
        latitude = row[Columns.latitude]
    }

    fileprivate func encode(to container: inout PersistenceContainer) throws {
        container[Columns.id] = id
        container[Columns.title] = title
        container[Columns.favorite] = isFavorite
        container[Columns.longitude] = longitude
        container[Columns.latitude] = latitude
    }
}

private struct PartialBook: Encodable, PersistableRecord {
    static let databaseTableName = "book"
    let title: String
}

private struct Book: Codable, FetchableRecord, PersistableRecord {
    enum Kind: String, Codable, DatabaseValueConvertible {
        case novel, essay
    }

    enum Columns {
        static let title = Column(CodingKeys.title)
        static let year = Column(CodingKeys.year)
        static let kind = Column(CodingKeys.kind)
    }

    let id: Int64
    let title: String
    let year: Int?
    let kind: Kind
}

private final class Novel: FetchableRecord, PersistableRecord {
    static let databaseTableName = "book"
    // Written where the record is inserted alone.
    nonisolated(unsafe) var id: Int64?
    var title: String

    init(title: String) {
        self.title = title
    }

    required init(row: Row) throws {
        id = row["id"]
        title = row["title"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["title"] = title
    }

    func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

private struct AppConfiguration: Codable, FetchableRecord, PersistableRecord {
    private var id = 1
    var flag: Bool
    var text: String

    static let `default` = AppConfiguration(flag: false, text: "default")

    init(flag: Bool, text: String) {
        self.flag = flag
        self.text = text
    }

    static func find(_ db: Database) throws -> AppConfiguration {
        try fetchOne(db) ?? .default
    }

    func willUpdate(_ db: Database, columns: Set<String>) throws {
        if try !exists(db) {
            try AppConfiguration.default.insert(db)
        }
    }
}
