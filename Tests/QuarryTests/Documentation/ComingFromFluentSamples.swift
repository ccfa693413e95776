import Foundation
import Quarry
import QuarryTables
import QuarryTestSupport
import Testing

/// The code of the article "Coming from Fluent".
@Suite struct ComingFromFluentSamples {
    // final class Author: Model { static let schema = "authors"
    struct Author: Codable, Identifiable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "authors"
        // @Children(for: \.$author) var books: [Book]
        static let books = hasMany(Book.self)

        // @ID(key: .id) var id: UUID?
        var id = UUID()
        // @Field(key: "name") var name: String
        var name: String
    }

    // enum Binding: String, Codable, for @Enum(key: "binding")
    enum Binding: String, Codable, CaseIterable, DatabaseValueConvertible {
        case hardcover, paperback
    }

    struct Book: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
        static let databaseTableName = "books"
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        // @Parent(key: "author_id") var author: Author
        static let author = belongsTo(Author.self)
        // @Siblings(through: BookTag.self, from: \.$book, to: \.$tag) var tags: [Tag]
        static let bookTags = hasMany(BookTag.self)
        static let tags = hasMany(Tag.self, through: bookTags, using: BookTag.tag)

        var id = UUID()
        var title: String
        // @OptionalField(key: "pages") var pages: Int?
        var pages: Int?
        var binding = Binding.paperback
        // book.$author.id
        var authorId: UUID
        // @Timestamp(key: "created_at", on: .create) var createdAt: Date?
        var createdAt: Date?
        // @Timestamp(key: "deleted_at", on: .delete) var deletedAt: Date?
        var deletedAt: Date?

        enum Columns {
            static let id = Column("id")
            static let title = Column("title")
            static let pages = Column("pages")
            static let binding = Column("binding")
            static let authorId = Column("author_id")
            static let deletedAt = Column("deleted_at")
        }

        // struct BookMiddleware: AsyncModelMiddleware { func create(model:on:next:)
        mutating func willInsert(_ db: Database) throws {
            title = title.trimmingCharacters(in: .whitespaces)
            createdAt = try createdAt ?? db.transactionDate
        }
    }

    struct Tag: Codable, Identifiable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "tags"

        var id = UUID()
        var name: String
    }

    struct BookTag: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "book_tags"
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
        static let tag = belongsTo(Tag.self)

        var bookId: UUID
        var tagId: UUID
    }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        // app.migrations.add(CreateLibrary())
        migrator.registerMigration("CreateLibrary") { db in
            // try await database.schema("authors").id().field("name", .string, .required).create()
            try db.create(table: "authors") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull()
            }
            // try await database.schema("books").id()
            try db.create(table: "books") { t in
                t.primaryKey("id", .blob)
                // .field("title", .string, .required)
                t.column("title", .text).notNull()
                // .field("pages", .int, .sql(.default(100)))
                t.column("pages", .integer).defaults(to: 100)
                // let binding = try await database.enum("binding").case("hardcover").case("paperback").create()
                t.column("binding", .text).notNull().check { Binding.allCases.contains($0) }
                // .field("author_id", .uuid, .required, .references("authors", "id", onDelete: .cascade))
                t.column("author_id", .blob).notNull().indexed().references("authors", onDelete: .cascade)
                t.column("created_at", .datetime).notNull()
                t.column("deleted_at", .datetime)
                // .unique(on: "title", "author_id")
                t.uniqueKey(["title", "author_id"])
            }
            try db.create(table: "tags") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull().unique()
            }
            try db.create(table: "book_tags") { t in
                t.primaryKey {
                    t.column("book_id", .blob).references("books", onDelete: .cascade)
                    t.column("tag_id", .blob).references("tags", onDelete: .cascade)
                }
            }
        }
        // try await database.schema("books").field("isbn", .string).update()
        migrator.registerMigration("AddISBN") { db in
            try db.alter(table: "books") { t in t.add(column: "isbn", .text) }
        }
        return migrator
    }()

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("library.sqlite")
    }

    /// A database with two authors, three books and two tags.
    private func makeLibrary() async throws -> (DatabasePool, author: Author, book: Book, tag: Tag) {
        let migrator = Self.migrator
        // app.databases.use(.sqlite(.file(path)), as: .sqlite)
        let dbPool = try await DatabasePool.open(path: path)
        // try await app.autoMigrate()
        try await migrator.migrate(dbPool) { _ in }

        let (melville, austen) = (Author(name: "Melville"), Author(name: "Austen"))
        let (sea, love) = (Tag(name: "sea"), Tag(name: "love"))
        var whale = Book(title: " Moby-Dick ", pages: 600, binding: .hardcover, authorId: melville.id)
        let added = try await dbPool.write { [whale] db in
            var whale = whale
            for author in [melville, austen] { try author.insert(db) }
            for tag in [sea, love] { try tag.insert(db) }
            try whale.insert(db)
            try BookTag(bookId: whale.id, tagId: sea.id).insert(db)
            var others = [
                Book(title: "Omoo", pages: 300, authorId: melville.id),
                Book(title: "Emma", pages: 400, authorId: austen.id),
            ]
            try Book.insertAll(db, &others)
            try BookTag(bookId: others[1].id, tagId: love.id).insert(db)
            return whale
        }
        whale = added
        return (dbPool, melville, whale, sea)
    }

    @Test func migrations() async throws {
        let (dbPool, _, book, _) = try await makeLibrary()
        try await dbPool.read { db in
            #expect(book.title == "Moby-Dick")
            #expect(book.createdAt != nil)
            #expect(try Self.migrator.hasCompletedMigrations(db))
            #expect(try db.columns(in: "books").contains { $0.name == "isbn" })
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_schema WHERE name = 'books'") ?? ""
            #expect(sql.contains(#"CHECK ("binding" IN ('hardcover', 'paperback'))"#))
        }
    }

    @Test func saving() async throws {
        let (dbPool, author, book, _) = try await makeLibrary()
        try await dbPool.write { db in
            // try await book.create(on: database)
            var typee = Book(title: "Typee", authorId: author.id)
            try typee.insert(db)
            // book.title = "The Whale"; try await book.update(on: database)
            var book = book
            book.title = "The Whale"
            try book.update(db)
            // try await book.save(on: database)
            try book.save(db)
            // only the columns that have changed
            try book.updateChanges(db) { $0.pages = 635 }
            // try await books.create(on: database)
            var more = [Book(title: "Mardi", authorId: author.id), Book(title: "Pierre", authorId: author.id)]
            try Book.insertAll(db, &more)
            // try await book.delete(force: true, on: database)
            try typee.delete(db)
            // try await Book.find(id, on: database)
            let found = try Book.fetchOne(db, id: book.id)  // Book?
            // guard let book = try await Book.find(…) else { throw Abort(.notFound) }
            let required = try Book.find(db, id: book.id)  // throws RecordError.recordNotFound

            #expect(found?.pages == 635)
            #expect(required.title == "The Whale")
            #expect(try Book.fetchCount(db) == 5)
        }
    }

    @Test func queries() async throws {
        let (dbPool, _, _, _) = try await makeLibrary()
        try await dbPool.read { db in
            // Book.query(on: database).filter(\.$binding == .hardcover).sort(\.$title).all()
            let books = try Book.filter { $0.binding == Binding.hardcover }.order(\.title).fetchAll(db)
            // .first()
            let first = try Book.order(\.title).fetchOne(db)
            // .all(\.$title)
            let titles = try Book.order(\.title).select(\.title, as: String.self).fetchAll(db)
            // .filter(\.$title ~~ ["Emma", "Omoo"]), .filter(\.$title !~ ["Emma"])
            let some = try Book.filter { ["Emma", "Omoo"].contains($0.title) }.fetchCount(db)
            let others = try Book.filter { !["Emma"].contains($0.title) }.fetchCount(db)
            // .filter(\.$title =~ "M"), which matches a prefix
            let prefixed = try Book.filter { $0.title.like("M%") }.fetchCount(db)
            // .group(.or) { $0.filter(\.$title == "Emma").filter(\.$pages > 500) }
            let either = try Book.filter { $0.title == "Emma" || $0.pages > 500 }.fetchCount(db)
            // .count(), .sum(\.$pages), .average(\.$pages), .min(\.$pages), .max(\.$pages)
            let count = try Book.fetchCount(db)
            let total = try Book.select({ sum($0.pages) }, as: Int.self).fetchOne(db)
            let average = try Book.select({ Quarry.average($0.pages) }, as: Double.self).fetchOne(db)
            let longest = try Book.select({ max($0.pages) }, as: Int.self).fetchOne(db)
            // .unique().all(\.$binding)
            let bindings = try Book.select(\.binding, as: Binding.self).distinct().fetchSet(db)
            // .range(1..<3)
            let range = try Book.order(\.title).limit(2, offset: 1).fetchAll(db)
            // .chunk(max: 64) { books in … }
            let cursor = try Book.order(\.title).fetchCursor(db)
            while let book = try cursor.next() { print(book.title) }

            #expect(books.map(\.title) == ["Moby-Dick"])
            #expect(first?.title == "Emma")
            #expect(titles == ["Emma", "Moby-Dick", "Omoo"])
            #expect((some, others, prefixed, either, count) == (2, 2, 1, 2, 3))
            #expect((total, longest) == (1300, 600))
            #expect(average.map { Int($0) } == 433)
            #expect(bindings == [.hardcover, .paperback])
            #expect(range.map(\.title) == ["Moby-Dick", "Omoo"])
        }
    }

    struct BookTitle: Codable, FetchableRecord {
        var id: UUID
        var title: String
    }

    @Test func fields() async throws {
        let (dbPool, _, _, _) = try await makeLibrary()
        try await dbPool.read { db in
            // Book.query(on: database).field(\.$id).field(\.$title).all()
            let titles = try Book.select { [$0.id, $0.title] }.asRequest(of: BookTitle.self).fetchAll(db)

            #expect(titles.count == 3)
        }
    }

    @Test func changes() async throws {
        let (dbPool, _, _, _) = try await makeLibrary()
        try await dbPool.write { db in
            // Book.query(on: database).set(\.$pages, to: 0).filter(\.$title == "Emma").update()
            try Book.filter { $0.title == "Emma" }.updateAll(db) { [$0.pages.set(to: 0)] }
            // Book.query(on: database).filter(\.$pages == 0).delete()
            try Book.filter { $0.pages == 0 }.deleteAll(db)

            #expect(try Book.fetchCount(db) == 2)
        }
    }

    struct AuthorWithBooks: Decodable, FetchableRecord {
        var author: Author
        var books: [BookWithTags]
    }

    struct BookWithTags: Decodable, FetchableRecord {
        var book: Book
        var tags: [Tag]
    }

    struct BookWithAuthor: Decodable, FetchableRecord {
        var book: Book
        var author: Author
    }

    @Test func eagerLoading() async throws {
        let (dbPool, author, book, _) = try await makeLibrary()
        try await dbPool.read { db in
            // Book.query(on: database).with(\.$author).all()
            let books = try Book.including(required: Book.author)
                .asRequest(of: BookWithAuthor.self).fetchAll(db)
            // Author.query(on: database).with(\.$books) { $0.with(\.$tags) }.all()
            let authors = try Author.including(all: Author.books.including(all: Book.tags))
                .asRequest(of: AuthorWithBooks.self).fetchAll(db)
            // try await author.$books.get(on: database)
            let hers = try author.request(for: Author.books).fetchAll(db)
            // try await author.$books.query(on: database).filter(\.$pages > 500).all()
            let long = try author.request(for: Author.books).filter { $0.pages > 500 }.fetchAll(db)
            // try await book.$author.get(on: database)
            let its = try book.request(for: Book.author).fetchOne(db)

            #expect(books.count == 3)
            #expect(authors.count == 2)
            let melville = authors.first { $0.author.id == author.id }
            #expect(melville?.books.first { $0.book.id == book.id }?.tags.map(\.name) == ["sea"])
            #expect((hers.count, long.count, its?.name) == (2, 1, "Melville"))
        }
    }

    @Test func relations() async throws {
        let (dbPool, author, book, tag) = try await makeLibrary()
        try await dbPool.write { db in
            // try await author.$books.create(Book(title: "Typee"), on: database)
            var typee = Book(title: "Typee", authorId: author.id)
            try typee.insert(db)
            // try await typee.$tags.attach(tag, method: .ifNotExists, on: database)
            try BookTag(bookId: typee.id, tagId: tag.id).insertOrIgnore(db)
            // try await typee.$tags.isAttached(to: tag, on: database)
            let isAttached = try BookTag.exists(db, key: ["book_id": typee.id, "tag_id": tag.id])
            // try await typee.$tags.detach(tag, on: database)
            try BookTag(bookId: typee.id, tagId: tag.id).delete(db)

            #expect(isAttached)
            #expect(try typee.request(for: Book.tags).fetchCount(db) == 0)
            #expect(try book.request(for: Book.tags).fetchCount(db) == 1)
        }
    }

    @Test func joins() async throws {
        let (dbPool, _, _, _) = try await makeLibrary()
        try await dbPool.read { db in
            // Book.query(on: database).join(Author.self, on: \Book.$author.$id == \Author.$id)
            //     .filter(Author.self, \.$name == "Melville").sort(Author.self, \.$name).all()
            let author = TableAlias<Author>()
            let books = try Book.joining(required: Book.author.aliased(author))
                .filter(author[Column("name")] == "Melville").order(author[Column("name")], Column("title"))
                .fetchAll(db)
            // book.joined(Author.self)
            let pairs = try Book.all()
                .join(Author.self) { book, author in book["author_id"] == author["id"] }
                .fetchAll(db)  // [(Book, Author)]

            #expect(books.map(\.title) == ["Moby-Dick", "Omoo"])
            #expect(pairs.count == 3)
        }
    }

    @Test func transactions() async throws {
        let (dbPool, author, _, _) = try await makeLibrary()
        let (sun, moon) = (Tag(name: "sun"), Tag(name: "moon"))
        // try await database.transaction { transaction in try await sun.save(on: transaction) … }
        try await dbPool.write { db in
            try sun.save(db)
            try moon.save(db)
        }
        try await expectThrown {
            try await dbPool.write { db in
                try Tag(name: "star").insert(db)
                try Tag(name: "sun").insert(db)  // violates the unique key: neither is stored
            }
        }
        #expect(try await dbPool.read { db in try Tag.fetchCount(db) } == 4)
        #expect(try await dbPool.read { db in try Author.exists(db, id: author.id) })
    }

    private func expectThrown(_ body: () async throws -> Void) async throws {
        await expectError(.SQLITE_CONSTRAINT_UNIQUE) { try await body() }
    }

    @Test func rawSQL() async throws {
        let (dbPool, _, _, _) = try await makeLibrary()
        let title = "Emma"
        // try await (database as! any SQLDatabase).raw("SELECT * FROM books WHERE title = \(bind: title)")
        //     .all(decoding: Book.self)
        let books = try await dbPool.read { db in
            let request: SQLRequest<Book> = "SELECT * FROM books WHERE title = \(title)"
            return try request.fetchAll(db)
        }

        #expect(books.map(\.title) == ["Emma"])
    }
}
