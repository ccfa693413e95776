import Quarry
import QuarryTestSupport
import Testing

/// Subclasses in variables of their base class: what is written, and how, is theirs.
@Suite("Class hierarchies of records") struct ClassHierarchyTests {
    class Animal: FetchableRecord, PersistableRecord {
        class var databaseTableName: String { "animal" }
        class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }
        class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

        // One thread uses the records of a test.
        nonisolated(unsafe) var id: Int64?
        nonisolated(unsafe) var name: String
        nonisolated(unsafe) var calls: [String] = []

        init(id: Int64? = nil, name: String) { (self.id, self.name) = (id, name) }

        required init(row: Row) throws {
            id = row["id"]
            name = row["name"]
        }

        func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["name"] = name
        }

        func willSave(_ db: Database) throws { calls.append("animal willSave") }
        func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    class Dog: Animal {
        override class var databaseTableName: String { "dog" }
        override class var persistenceConflictPolicy: PersistenceConflictPolicy {
            PersistenceConflictPolicy(insert: .replace, update: .ignore)
        }
        override class var databaseSelection: [any SQLSelectable] {
            [Column("id"), Column("name"), Column("legs"), SQL("'bark'").forKey("sound")]
        }

        // One thread uses the records of a test.
        nonisolated(unsafe) var legs = 4
        nonisolated(unsafe) var sound: String?

        override init(id: Int64? = nil, name: String) { super.init(id: id, name: name) }

        required init(row: Row) throws {
            legs = row["legs"]
            sound = row["sound"]
            try super.init(row: row)
        }

        override func encode(to container: inout PersistenceContainer) throws {
            try super.encode(to: &container)
            container["legs"] = legs
        }

        override func willSave(_ db: Database) throws { calls.append("dog willSave") }
        override func didInsert(_ inserted: InsertionSuccess) {
            super.didInsert(inserted)
            calls.append("dog didInsert")
        }
    }

    /// It has all from its superclass but the table.
    final class Puppy: Dog {
        override class var databaseTableName: String { "puppy" }
    }

    private func withAnimals(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE dog (id INTEGER PRIMARY KEY, name TEXT UNIQUE, legs INTEGER);
                    CREATE TABLE puppy (id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);
                    """)
            try body(db)
        }
    }

    @Test func eachVerbWritesIntoTheTableOfTheClass() throws {
        try withAnimals { (db) throws in
            let dog: Animal = Dog(name: "Rex")
            let sql = try emitted(db) { () throws in
                try dog.insert(db)
                try dog.update(db)
                try dog.update(db, columns: ["name"])
                try dog.save(db)
                try dog.upsert(db)
                try dog.insertOrIgnore(db)
                #expect(try dog.exists(db))
                #expect(try dog.delete(db))
                #expect(try !dog.exists(db))
            }
            #expect(
                sql == [
                    #"INSERT OR REPLACE INTO "dog" ("id", "name", "legs") VALUES (NULL,'Rex',4)"#,
                    #"UPDATE OR IGNORE "dog" SET "name"='Rex', "legs"=4 WHERE "id"=1"#,
                    #"UPDATE OR IGNORE "dog" SET "name"='Rex' WHERE "id"=1"#,
                    #"UPDATE OR IGNORE "dog" SET "name"='Rex', "legs"=4 WHERE "id"=1"#,
                    """
                    INSERT INTO "dog" ("id", "name", "legs") VALUES (1,'Rex',4) \
                    ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "legs" = "excluded"."legs" RETURNING "rowid"
                    """,
                    #"INSERT OR IGNORE INTO "dog" ("id", "name", "legs") VALUES (1,'Rex',4)"#,
                    #"SELECT EXISTS (SELECT 1 FROM "dog" WHERE "id"=1)"#,
                    #"DELETE FROM "dog" WHERE "id"=1"#,
                    #"SELECT EXISTS (SELECT 1 FROM "dog" WHERE "id"=1)"#,
                ])
        }
    }

    @Test func changesOfASubclass() throws {
        try withAnimals { (db) throws in
            var dog: Animal = Dog(name: "Rex")
            try dog.insert(db)
            let sql = try emitted(db) { () throws in
                // Before and after are one object: each is encoded when it is needed.
                #expect(try dog.updateChanges(db) { ($0 as? Dog)?.legs = 5 })
                let old = Dog(id: 1, name: "Rex")
                (dog as? Dog)?.legs = 3
                #expect(try dog.updateChanges(db, from: old))
            }
            #expect(
                sql == [
                    #"UPDATE OR IGNORE "dog" SET "legs"=5 WHERE "id"=1"#,
                    #"UPDATE OR IGNORE "dog" SET "legs"=3 WHERE "id"=1"#,
                ])
        }
    }

    /// A record that is fetched with its write is of the same class.
    @Test func writtenRowsAreOfTheClass() throws {
        try withAnimals { (db) throws in
            let dog: Animal = Dog(id: 1, name: "Rex")
            func legs(_ animal: Animal) -> Int? { (animal as? Dog)?.legs }
            func sound(_ animal: Animal) -> String? { (animal as? Dog)?.sound }
            let inserted = try dog.insertAndFetch(db)
            (dog as? Dog)?.legs = 3
            let updated = try dog.updateAndFetch(db)
            let saved = try dog.saveAndFetch(db)
            let upserted = try dog.upsertAndFetch(db)
            #expect([inserted, updated, saved, upserted].map(legs) == [4, 3, 3, 3])
            #expect([inserted, updated, saved, upserted].map(sound) == ["bark", "bark", "bark", "bark"])
            let asAnimal = try dog.updateAndFetch(db, as: Animal.self)
            #expect(type(of: asAnimal) == Animal.self)
        }
    }

    /// Each class has its own callbacks, also once those of another are known to do nothing.
    @Test func callbacksOfEachClass() throws {
        try withAnimals { (db) throws in
            for _ in 0..<3 {
                let (dog, animal): (Animal, Animal) = (Dog(name: "Rex"), Animal(name: "Tom"))
                try animal.insert(db)
                try dog.insert(db)
                #expect(animal.calls == ["animal willSave"])
                #expect(dog.calls == ["dog willSave", "dog didInsert"])
            }
        }
    }

    @Test func batchesOfSeveralClasses() throws {
        try withAnimals { (db) throws in
            func animals(_ names: String...) -> [Animal] {
                names.map { $0.hasPrefix("P") ? Puppy(name: $0) : $0.hasPrefix("D") ? Dog(name: $0) : Animal(name: $0) }
            }
            let names = { () throws in
                try ["animal", "dog", "puppy"].map { table in
                    try String.fetchAll(db, sql: "SELECT name FROM \(table) ORDER BY id").joined()
                }
            }
            #expect(try Animal.insertAll(db, animals("A", "B", "D1", "D2", "P1", "C", "D3")) == 7)
            #expect(try names() == ["ABC", "D1D2D3", "P1"])
            // Not side by side: one by one.
            #expect(try Animal.insertAll(db, AnySequence(animals("E", "D4", "P2"))) == 3)
            #expect(try names() == ["ABCE", "D1D2D3D4", "P1P2"])
            var learning = animals("F", "D5", "P3")
            #expect(try Animal.insertAll(db, &learning) == 3)
            #expect(learning.map(\.id) == [5, 5, 3])
            try Animal.upsertAll(db, animals("G", "D5", "P4"))
            var upserted = animals("H", "D5", "P5")
            try Animal.upsertAll(db, &upserted)
            #expect(upserted.map(\.id) == [7, 5, 5])
            #expect(try names() == ["ABCEFGH", "D1D2D3D4D5", "P1P2P3P4P5"])
            // As many of each class as go into one statement.
            let many = (0..<200).map { $0 / 50 % 2 == 0 ? Dog(name: "m\($0)") : Animal(name: "m\($0)") }
            #expect(try Animal.insertAll(db, many) == 200)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM dog WHERE name LIKE 'm%'") == 100)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM animal WHERE name LIKE 'm%'") == 100)
            // All or none, of all classes.
            try db.execute(sql: "CREATE UNIQUE INDEX names ON animal (name)")
            expectError(.SQLITE_CONSTRAINT) { try Animal.insertAll(db, animals("D6", "A")) }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM dog WHERE name = 'D6'") == 0)
        }
    }

    /// Errors name the table of the class.
    @Test func errorsOfASubclass() throws {
        try withAnimals { (db) throws in
            let dog: Animal = Dog(id: 7, name: "Rex")
            let error = expectError(RecordError.self) { try dog.update(db) }
            #expect(error?.description.contains("dog") == true)
            #expect("\(dog.recordNotFound(db))".contains("dog"))
        }
    }

    /// Methods of a type that is only known when the program runs.
    @Test func keysOfASubclass() throws {
        try withAnimals { (db) throws in
            try Dog(id: 2, name: "Rex").insert(db)
            let type: Animal.Type = Dog.self
            #expect(try type.exists(db, key: 2))
            #expect(try type.fetchOne(db, key: 2)?.name == "Rex")
            #expect(try type.fetchAll(db, keys: [2, 3]).map(\.name) == ["Rex"])
            #expect(try type.fetchCount(db) == 1)
            #expect(try type.deleteOne(db, key: 2))
        }
    }

    // MARK: - Codable

    class Shape: Codable, PersistableRecord {
        class var databaseTableName: String { "shape" }
        class func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .millisecondsSince1970
        }
        class var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

        let sideCount: Int
        init(sideCount: Int) { self.sideCount = sideCount }
    }

    final class Square: Shape {
        override class var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
    }

    final class Circle: Shape {
        override class var databaseTableName: String { "circle" }
    }

    /// Strategies are those of the class, however the classes take turns.
    @Test func strategiesOfASubclass() throws {
        try withAnimals { (db) throws in
            try db.execute(
                sql:
                    "CREATE TABLE shape (sideCount INTEGER, side_count INTEGER)"
                    + "; CREATE TABLE circle (sideCount INTEGER)"
            )
            let shapes: [Shape] = [Shape(sideCount: 3), Square(sideCount: 4), Circle(sideCount: 0)]
            for _ in 0..<2 { for shape in shapes { try shape.insert(db) } }
            try Shape.insertAll(db, shapes)
            #expect(
                try Row.fetchAll(db, sql: "SELECT DISTINCT * FROM shape") == [
                    ["sideCount": 3, "side_count": nil], ["sideCount": nil, "side_count": 4],
                ])
            #expect(try Int.fetchAll(db, sql: "SELECT sideCount FROM circle") == [0, 0, 0])
            let square: Shape = shapes[1]
            #expect(try square.databaseDictionary == ["side_count": 4.databaseValue])
        }
    }

    /// The name of the table that a class doesn't state is its own.
    class Unnamed: PersistableRecord {
        func encode(to container: inout PersistenceContainer) throws { container["a"] = 1 }
    }

    final class StillUnnamed: Unnamed {}

    @Test func defaultNames() throws {
        try withAnimals { (db) throws in
            try db.execute(sql: "CREATE TABLE unnamed (a); CREATE TABLE stillUnnamed (a)")
            let record: Unnamed = StillUnnamed()
            try record.insert(db)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM stillUnnamed") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM unnamed") == 0)
        }
    }
}
