import Foundation
import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Bad input: each mistake has its error or its documented effect, and the connection goes on.
@Suite struct BadDocumentTests {
    private struct Inner: Codable, Sendable {
        var value: Double
    }

    private struct Outer: Codable, Sendable {
        var list: [Inner]
    }

    private struct Refused: Error {}

    private struct Refusing: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) throws { throw Refused() }
        func encode(to encoder: any Encoder) throws { throw Refused() }
    }

    @Test func objectsThatAreNotEncoded() throws {
        try withBooks { db throws in
            let outers = store.collection("outers", of: Outer.self, metadata: Inner.self)
            let bad = Outer(list: [Inner(value: 1), Inner(value: .infinity)])
            let error = expectError(
                DocumentError.self,
                """
                document outers/a: could not encode the object of type Outer at list.1.value: \
                a value of type Double can't be encoded
                """
            ) { try outers.set(db, key: "a", bad) }
            #expect(error?.collection == "outers" && error?.key == "a" && error?.store == "document")
            #expect(error?.codingPath == ["list", "1", "value"] && error?.operation == .encodingObject)
            expectError(
                DocumentError.self,
                "document outers/a: could not encode the metadata of type Inner at value: a value of type Double can't be encoded"
            ) { try outers.set(db, key: "a", Outer(list: []), metadata: Inner(value: .nan)) }
            let refusing = store.collection("refusing", of: Refusing.self)
            let refusal = expectError(
                DocumentError.self,
                "document refusing/a: could not encode the object of type Refusing: it threw Refused"
            ) { try refusing.set(db, key: "a", Refusing()) }
            #expect(refusal?.underlyingError is Refused)
            #expect(try store.count(db) == 3)
        }
    }

    @Test func objectsThatAreNotDecoded() throws {
        try withBooks { db throws in
            for (object, problem) in [
                ("no JSON", ": the data is not valid"), ("", ": the data is not valid"),
                (#"{"title":"secret","author":"secret"}"#, " at year: key not found"),
                (
                    #"{"title":"secret","author":"secret","year":"secret"}"#,
                    " at year: Expected to decode Int but found a string instead."
                ),
                (
                    #"{"title":"secret","author":null,"year":1}"#,
                    " at author: Cannot get value of type String -- found null value instead"
                ),
                ("[1]", ": Expected to decode Dictionary<String, Any> but found an array instead."),
            ] {
                try db.execute(sql: "UPDATE document SET object = ? WHERE key = 'emma'", arguments: [object])
                let error = expectError(DocumentError.self) { try books.get(db, key: "emma") }
                #expect(error?.description == "document books/emma: could not decode the object as Book\(problem)")
                expectError(DocumentError.self) { try books.getDocument(db, key: "emma") }
                expectError(DocumentError.self) { try books.all().fetchAll(db) }
                #expect(try books.get(db, key: "typee") == typee)
            }
            #expect(try books.getMetadata(db, key: "emma") == Reading(page: 1))
        }
    }

    @Test func metadataOfAnotherType() throws {
        try withBooks { db throws in
            let others = store.collection("books", of: Book.self, metadata: [String].self)
            expectError(
                DocumentError.self,
                """
                document books/emma: could not decode the metadata as Array<String>: \
                Expected to decode Array<Any> but found a dictionary instead.
                """
            ) { try others.getMetadata(db, key: "emma") }
            expectError(DocumentError.self) { try others.getDocument(db, key: "emma") }
            #expect(try others.get(db, key: "emma") == emma)
            // A collection without metadata ignores it, and removes it when it sets an object.
            let plain = store.collection("books", of: Book.self)
            #expect(try plain.getDocument(db, key: "emma")?.metadata == nil)
            #expect(try plain.getMetadata(db, key: "emma") == nil)
            try plain.replace(db, key: "emma", emma)
            #expect(try books.getMetadata(db, key: "emma") == Reading(page: 1))
            try plain.set(db, key: "emma", emma)
            #expect(try books.getMetadata(db, key: "emma") == nil)
        }
    }

    @Test func oddKeys() throws {
        try makeQueue().write { db throws in
            let numbers = store.collection("", of: Int.self)
            let keys = [
                "", "\0", "a\0", "a\0b", "a", "'", "é", "e\u{301}", "😀", String(repeating: "k", count: 1_000_000),
            ]
            for (number, key) in keys.enumerated() { try numbers.set(db, key: key, number) }
            #expect(try numbers.count(db) == keys.count)
            for (number, key) in keys.enumerated() {
                #expect(try numbers.get(db, key: key) == number)
                #expect(try numbers.contains(db, key: key))
            }
            #expect(
                try numbers.keys(db).map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
                    == keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(try numbers.remove(db, keys: keys) == keys.count)
        }
    }

    @Test func aKeyThatIsTooLong() throws {
        try makeQueue().write { db throws in
            let numbers = store.collection("numbers", of: Int.self)
            try db.setLimit(.length, to: 10_000)
            let key = String(repeating: "k", count: 10_001)
            expectError(.SQLITE_TOOBIG) { try numbers.set(db, key: key, 1) }
            expectError(.SQLITE_TOOBIG) { try numbers.get(db, key: key) }
            #expect(try numbers.count(db) == 0)
        }
    }

    @Test(arguments: [false, true]) func writesInAReader(isPool: Bool) throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("a.sqlite")
        let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try writer.write { db in
            try store.create(in: db)
            try books.set(db, key: "emma", emma)
        }
        try writer.read { db throws in
            expectError(.SQLITE_READONLY) { try books.set(db, key: "emma", typee) }
            expectError(.SQLITE_READONLY) { try books.replace(db, key: "emma", typee) }
            expectError(.SQLITE_READONLY) { try books.replaceMetadata(db, key: "emma", nil) }
            expectError(.SQLITE_READONLY) { try books.touch(db, key: "emma") }
            expectError(.SQLITE_READONLY) { try books.remove(db, key: "emma") }
            expectError(.SQLITE_READONLY) { try books.removeAll(db) }
            expectError(.SQLITE_READONLY) { try store.removeAll(db) }
            expectError(.SQLITE_READONLY) { try store.drop(in: db) }
            expectError(.SQLITE_READONLY) { try DocumentStore("other").create(in: db) }
            #expect(try books.get(db, key: "emma") == emma)
        }
    }

    /// A connection that is used after its access.
    @Test func afterTheAccess() throws {
        let queue = try makeQueue()
        var escaped: Database?
        try queue.write { escaped = $0 }
        let db = try #require(escaped)
        expectError(.SQLITE_MISUSE) { try books.get(db, key: "emma") }
        expectError(.SQLITE_MISUSE) { try books.set(db, key: "emma", emma) }
        #expect(try queue.read { try books.count($0) } == 0)
    }

    /// STRICT refuses values that are no texts.
    @Test func valuesOfSQL() throws {
        try withBooks { db throws in
            expectError(.SQLITE_CONSTRAINT_DATATYPE, "cannot store BLOB value in TEXT column document.object") {
                try db.execute(sql: "UPDATE document SET object = x'00'")
            }
            expectError(.SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: document.key") {
                try db.execute(sql: "INSERT INTO document (collection, key, object) VALUES ('a', NULL, '1')")
            }
            expectError(
                .SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: document.collection, document.key"
            ) { try db.execute(sql: "INSERT INTO document (collection, key, object) VALUES ('books', 'emma', '1')") }
            try db.execute(
                sql: """
                    INSERT INTO document (collection, key, object)
                    VALUES ('books', 'omoo', json_object('title', 'Omoo', 'author', 'Melville', 'year', 1847))
                    """)
            #expect(try books.get(db, key: "omoo")?.year == 1847)
            try db.execute(sql: "INSERT INTO document (collection, key, object) VALUES (1, 2, 3)")
            #expect(try store.collection("1", of: Int.self).get(db, key: "2") == 3)
        }
    }

    /// Triggers of the program run for documents as for all rows.
    @Test func triggersOfTheProgram() throws {
        try withBooks { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE log (what);
                    CREATE TRIGGER refuse BEFORE INSERT ON document WHEN new.key = 'bad'
                    BEGIN SELECT RAISE(ABORT, 'this key is refused'); END;
                    CREATE TRIGGER ignore BEFORE DELETE ON document WHEN old.key = 'emma'
                    BEGIN SELECT RAISE(IGNORE); END;
                    CREATE TRIGGER log AFTER UPDATE ON document
                    BEGIN INSERT INTO log VALUES (old.key); INSERT INTO log VALUES (new.key); END;
                    """)
            expectError(.SQLITE_CONSTRAINT_TRIGGER, "this key is refused") { try books.set(db, key: "bad", emma) }
            #expect(try !books.remove(db, key: "emma"))
            #expect(try books.contains(db, key: "emma"))
            #expect(try books.removeAll(db) == 2)
            #expect(try books.replace(db, key: "emma", typee))
            try books.set(db, key: "emma", emma)
            #expect(try !books.replace(db, key: "none", typee))
            #expect(try String.fetchAll(db, sql: "SELECT what FROM log") == ["emma", "emma", "emma", "emma"])
        }
    }

    /// A view of the store's name: SQLite says that it can't be written.
    @Test func aViewInPlaceOfTheTable() throws {
        try makeQueue().write { db throws in
            try db.execute(
                sql: "CREATE VIEW v AS SELECT collection, key, version, metadata, object FROM document")
            let view = DocumentStore("v")
            expectError(.SQLITE_ERROR) { try view.create(in: db) }
            expectError(.SQLITE_ERROR, "cannot modify v because it is a view") {
                try view.collection("a", of: Int.self).remove(db, key: "a")
            }
            #expect(try view.collection("a", of: Int.self).get(db, key: "a") == nil)
        }
    }

    /// Raw SQL that ends the transaction under a cursor and under a set.
    @Test func aTransactionThatSQLEnds() throws {
        let queue = try makeQueue()
        try queue.write { try books.set($0, key: "emma", emma) }
        #expect(throws: (any Error).self) {
            try queue.write { db in
                try books.set(db, key: "typee", typee)
                let documents = try books.all().fetchCursor(db)
                _ = try documents.next()
                try db.execute(sql: "ROLLBACK")
                _ = try documents.next()
                try books.set(db, key: "omoo", typee)
            }
        }
        #expect(try queue.read { try books.keys($0) }.contains("emma"))
        try queue.write { try books.set($0, key: "again", emma) }
    }

    /// A coder of the program's own.
    @Test func otherCoders() throws {
        struct Event: Codable, Sendable, Equatable {
            var date: Date
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        try makeQueue().write { db throws in
            let event = Event(date: Date(timeIntervalSince1970: 1_000_000))
            let texts = store.collection(
                "a", of: Event.self, coding: JSONCoding(encoder: encoder, decoder: decoder))
            try texts.set(db, key: "1", event)
            #expect(try texts.get(db, key: "1") == event)
            #expect(
                try String.fetchOne(db, sql: "SELECT object FROM document") == #"{"date":"1970-01-12T13:46:40Z"}"#)
            let date = texts.path("date", as: Date.self)
            #expect(try texts.filter(date == event.date).fetchKeys(db) == ["1"])
            #expect(try texts.filter(date > event.date).fetchKeys(db) == [])
            let numbers = store.collection("b", of: Event.self)
            try numbers.set(db, key: "1", event)
            #expect(try numbers.filter(numbers.path("date", as: Date.self) == event.date).fetchKeys(db) == ["1"])
            expectError(DocumentError.self) {
                try numbers.set(db, key: "2", Event(date: Date(timeIntervalSince1970: .nan)))
            }
        }
    }

    /// An object whose coding uses the connection: closures of the program that run inside a verb.
    @Test func codingThatReadsTheDatabase() throws {
        try withBooks { db throws in
            let readers = store.collection("readers", of: Reader.self)
            try Reader.$db.withValue(Reader.Box(db: db)) {
                try readers.set(db, key: "a", Reader())
                #expect(try readers.get(db, key: "a") != nil)
                #expect(try readers.all().fetchAll(db).count == 1)
            }
        }
    }

    private struct Reader: Codable, Sendable {
        /// Unchecked: used on the thread of the access alone.
        struct Box: @unchecked Sendable {
            let db: Database
        }

        @TaskLocal static var db: Box?

        init() {}

        init(from decoder: any Decoder) throws {
            if let db = Self.db?.db {
                _ = try books.get(db, key: "emma")
                _ = try books.all().fetchAll(db)
            }
        }

        func encode(to encoder: any Encoder) throws {
            if let db = Self.db?.db { try books.set(db, key: "emma", mobyDick) }
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }
}
