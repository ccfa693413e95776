import Foundation
import Quarry
import QuarryTestSupport
import Testing

private typealias Book = ComingFromFluentSamples.Book

extension DerivableRequest<Book> {
    func present() -> Self { filter(Column("deleted_at") == nil) }
}

extension Book {
    // try await book.delete(on: database)
    mutating func softDelete(_ db: Database) throws {
        let now = try db.transactionDate
        try updateChanges(db) { $0.deletedAt = now }
    }

    // try await book.restore(on: database)
    mutating func restore(_ db: Database) throws {
        try updateChanges(db) { $0.deletedAt = nil }
    }
}

/// The code of the second half of the article "Coming from Fluent": patterns that Fluent has built in.
@Suite struct ComingFromFluentPatternSamples {
    typealias Author = ComingFromFluentSamples.Author

    let dbQueue: DatabaseQueue
    let author = Author(name: "Melville")

    init() throws {
        dbQueue = try DatabaseQueue()
        try ComingFromFluentSamples.migrator.migrate(dbQueue)
        try dbQueue.write { [author] db in
            try author.insert(db)
            var books = (1...8).map { Book(title: "Book \($0)", authorId: author.id) }
            try Book.insertAll(db, &books)
        }
    }

    @Test func pagination() throws {
        // try await Book.query(on: database).sort(\.$title).paginate(PageRequest(page: 2, per: 5))
        let page = try dbQueue.read { db in
            try Book.order(\.title).page(number: 2, size: 5).fetch(db)
        }
        // page.items, page.number, page.size, page.total
        #expect(page.items.map(\.title) == ["Book 6", "Book 7", "Book 8"])
        #expect((page.number, page.size, page.total) == (2, 5, 8))
    }

    @Test func keysets() throws {
        let token = try dbQueue.read { try Book.order(\.title).page(size: 5).fetch($0) }.next
        let next = try dbQueue.read { db in
            try Book.order(\.title).page(size: 5, after: token).fetch(db)
        }
        #expect(next.items.map(\.title) == ["Book 6", "Book 7", "Book 8"])
    }

    @Test func softDeletion() throws {
        try dbQueue.write { db in
            var book = try Book.order(\.title).fetchOne(db)!
            try book.softDelete(db)
            // Book.query(on: database).all()
            let present = try Book.all().present().fetchAll(db)
            // Book.query(on: database).withDeleted().all()
            let all = try Book.fetchAll(db)

            #expect((present.count, all.count) == (7, 8))
            try book.restore(db)
            #expect(try Book.all().present().fetchCount(db) == 8)
        }
    }

    @Test func timestamps() throws {
        var migrator = ComingFromFluentSamples.migrator
        migrator.registerMigration("AddUpdatedAt") { db in
            // @Timestamp(key: "updated_at", on: .update) var updatedAt: Date?
            try db.alter(table: "books") { t in t.add(column: "updated_at", .datetime) }
            try db.create(
                trigger: "books_updated_at", on: "books", .after(.update), when: "NEW.updated_at IS OLD.updated_at",
                body: """
                    UPDATE books SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id
                    """)
        }
        try migrator.migrate(dbQueue)
        try dbQueue.write { db in
            #expect(try Date.fetchAll(db, sql: "SELECT updated_at FROM books WHERE updated_at NOTNULL").isEmpty)
            try Book.filter { $0.title == "Book 1" }.updateAll(db) { [$0.pages.set(to: 7)] }
            let dates = try Date.fetchAll(db, sql: "SELECT updated_at FROM books WHERE updated_at NOTNULL")
            #expect(dates.count == 1)
            #expect(dates.allSatisfy { abs($0.timeIntervalSinceNow) < 3600 })
        }
    }

    struct Member: Codable, Identifiable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "members"
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .timeIntervalSince1970
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSince1970
        }

        var id: UUID
        var name: String
        var createdAt: Date
    }

    @Test func filesOfFluent() throws {
        let id = UUID()
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "members" ("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "created_at" REAL);
                    INSERT INTO members VALUES (?, 'Arthur', 1700000000.25);
                    """, arguments: [id.uuidString])
        }

        var migrator = DatabaseMigrator()
        migrator.registerMigration("CreateMembers") { db in
            try db.create(table: "members", options: .ifNotExists) { t in
                t.primaryKey("id", .text)
                t.column("name", .text).notNull()
                t.column("created_at", .real)
            }
        }
        try migrator.migrate(dbQueue)

        try dbQueue.write { db in
            let member = try Member.find(db, id: id)
            #expect(member.createdAt == Date(timeIntervalSince1970: 1_700_000_000.25))
            try Member(id: UUID(), name: "Barbara", createdAt: member.createdAt).insert(db)
            let types = "SELECT DISTINCT typeof(id) || ' ' || length(id) || ' ' || typeof(created_at) FROM members"
            #expect(try String.fetchAll(db, sql: types) == ["text 36 real"])
            #expect(try String.fetchAll(db, sql: "SELECT id FROM members WHERE id = upper(id)").count == 2)
        }
    }
}
