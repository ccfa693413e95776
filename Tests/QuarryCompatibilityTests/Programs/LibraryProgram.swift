import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Associations of every kind, and records made of several tables.
enum LibraryProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "country") { t in
                t.primaryKey("code", .text)
                t.column("name", .text).notNull()
            }
            try db.create(table: "author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.belongsTo("country", onDelete: .setNull)
            }
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.belongsTo("author", onDelete: .cascade).notNull()
                t.belongsTo("translator", inTable: "author")
            }
            try db.create(table: "cover") { t in
                t.belongsTo("book", onDelete: .cascade).notNull().unique()
                t.column("color", .text).notNull()
            }
            try db.create(table: "genre") { t in
                t.primaryKey("name", .text)
            }
            try db.create(table: "bookGenre") { t in
                t.primaryKey {
                    t.belongsTo("book")
                    t.belongsTo("genre")
                }
            }
            try db.execute(
                sql: """
                    INSERT INTO country VALUES ('US', 'United States'), ('FR', 'France');
                    INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Giono', 'FR'), (3, 'Anonymous', NULL);
                    INSERT INTO book VALUES (1, 'Moby-Dick', 1, 2), (2, 'Typee', 1, NULL);
                    INSERT INTO book VALUES (3, 'Regain', 2, NULL), (4, 'Beowulf', 3, 3);
                    INSERT INTO cover VALUES (1, 'blue'), (3, 'green');
                    INSERT INTO genre VALUES ('novel'), ('adventure'), ('epic');
                    INSERT INTO bookGenre VALUES (1, 'novel'), (1, 'adventure'), (3, 'novel'), (4, 'epic');
                    """)
        }

        try dbQueue.read { db in
            let author = try Author.find(db, key: 1)
            print(try author.books.fetchAll(db).map(\.title), try author.books.fetchCount(db))
            print(try author.request(for: Author.country).fetchOne(db)?.name ?? "none")
            print(try Book.find(db, key: 1).request(for: Book.genres).order(Column("name")).fetchAll(db).map(\.name))
            print(try Book.find(db, key: 3).request(for: Book.country).fetchOne(db)?.code ?? "none")

            for info in try BookInfo.all().order(Column("title")).fetchAll(db) {
                print(
                    info.book.title, info.author.name, info.translator?.name ?? "-", info.cover?.color ?? "-",
                    info.country?.code ?? "-")
            }
            let infos = try Author.including(
                all: Author.books.order(Column("title").desc).including(all: Book.genres.order(Column("name")))
            )
            .including(optional: Author.country)
            .orderByPrimaryKey()
            .asRequest(of: AuthorInfo.self)
            .fetchAll(db)
            for info in infos {
                let books = info.books.map { "\($0.book.title) (\($0.genres.map(\.name).joined(separator: ", ")))" }
                print(info.author.name, info.country?.name ?? "nowhere", books)
            }
            print(
                try Genre.including(all: Genre.books.filter(Column("authorId") == 1)).order(Column("name"))
                    .asRequest(of: GenreInfo.self).fetchAll(db).map { "\($0.name) \($0.books.count)" })
            print(
                try Country.including(all: Country.books).asRequest(of: CountryInfo.self).fetchAll(db).map {
                    "\($0.country.code) \($0.books.map(\.title).sorted())"
                }.sorted())
            print(
                try Book.joining(required: Book.author.joining(required: Author.country.filter(Column("code") == "FR")))
                    .fetchAll(db).map(\.title))
            print(
                try Book.joining(optional: Book.cover).filter(sql: "cover.bookId IS NULL").order(Column("id")).fetchAll(
                    db
                ).map(\.title))
            print(
                try Book.including(required: Book.author.select(Column("name"))).limit(1).asRequest(of: Row.self)
                    .fetchOne(db)!.scopes["author"] ?? [:])
            print(
                try Author.including(all: Author.books.forKey("works").select(Column("title"), Column("authorId")))
                    .filter(key: 1).asRequest(of: Works.self).fetchOne(db)?.works.map(\.title).sorted() ?? [])
            print(
                try Author.including(all: Author.translations).asRequest(of: Translations.self).fetchAll(db).map {
                    "\($0.author.name) \($0.translations.count)"
                }.sorted())
            print(
                try Country.find(db, key: "US").request(for: Country.books).order(Column("id")).fetchAll(db).map(
                    \.title))
            print(try author.request(for: Author.covers).fetchAll(db).map(\.color))
        }

        try dbQueue.write { db in
            try db.execute(
                sql: "DELETE FROM bookGenre; UPDATE book SET translatorId = NULL WHERE translatorId = ?", arguments: [2]
            )
            print(try Author.deleteOne(db, key: 2), try Book.fetchCount(db), try Cover.fetchCount(db))
        }
    }
}

private struct Country: Codable, FetchableRecord, PersistableRecord {
    static let authors = hasMany(Author.self)
    static let books = hasMany(Book.self, through: authors, using: Author.books)
    var code: String
    var name: String
}

private struct Author: Codable, FetchableRecord, PersistableRecord {
    static let country = belongsTo(Country.self)
    static let books = hasMany(Book.self, using: Book.authorForeignKey)
    static let translations = hasMany(Book.self, key: "translations", using: Book.translatorForeignKey)
    static let covers = hasMany(Cover.self, through: books, using: Book.cover)
    var id: Int64?
    var name: String
    var countryCode: String?

    var books: QueryInterfaceRequest<Book> {
        request(for: Author.books).order(Column("title"))
    }
}

private struct Book: Codable, FetchableRecord, PersistableRecord {
    static let authorForeignKey = ForeignKey(["authorId"])
    static let translatorForeignKey = ForeignKey(["translatorId"])
    static let author = belongsTo(Author.self, using: authorForeignKey)
    static let translator = belongsTo(Author.self, key: "translator", using: translatorForeignKey)
    static let cover = hasOne(Cover.self)
    static let country = hasOne(Country.self, through: author, using: Author.country)
    static let bookGenres = hasMany(BookGenre.self)
    static let genres = hasMany(Genre.self, through: bookGenres, using: BookGenre.genre)
    var id: Int64?
    var title: String
    var authorId: Int64
    var translatorId: Int64?
}

private struct Cover: Codable, FetchableRecord, PersistableRecord {
    static let book = belongsTo(Book.self)
    var bookId: Int64
    var color: String
}

private struct Genre: Codable, FetchableRecord, PersistableRecord {
    static let bookGenres = hasMany(BookGenre.self)
    static let books = hasMany(Book.self, through: bookGenres, using: BookGenre.book)
    var name: String
}

private struct BookGenre: Codable, FetchableRecord, PersistableRecord {
    static let book = belongsTo(Book.self)
    static let genre = belongsTo(Genre.self)
    var bookId: Int64
    var genreName: String
}

private struct BookInfo: Decodable, FetchableRecord {
    var book: Book
    var author: Author
    var translator: Author?
    var cover: Cover?
    var country: Country?

    static func all() -> QueryInterfaceRequest<BookInfo> {
        Book.including(required: Book.author)
            .including(optional: Book.translator)
            .including(optional: Book.cover)
            .including(optional: Book.country)
            .asRequest(of: BookInfo.self)
    }
}

private struct AuthorInfo: Decodable, FetchableRecord {
    struct BookWithGenres: Decodable, FetchableRecord {
        var book: Book
        var genres: [Genre]
    }

    var author: Author
    var country: Country?
    var books: [BookWithGenres]
}

private struct GenreInfo: Decodable, FetchableRecord {
    var name: String
    var books: [Book]
}

private struct CountryInfo: Decodable, FetchableRecord {
    var country: Country
    var books: Set<Title>

    struct Title: Decodable, Hashable {
        var title: String
    }
}

private struct Works: Decodable, FetchableRecord {
    struct Work: Decodable {
        var title: String
    }
    var name: String
    var works: [Work]
}

private struct Translations: Decodable, FetchableRecord {
    var author: Author
    var translations: [Book]
}
