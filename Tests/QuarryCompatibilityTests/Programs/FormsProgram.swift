import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Forms of calls that are easily forgotten: tables of different types in one expression, empty lists, JSON of an
/// alias, ids that are nil, columns with the same name, streams and traces.
enum FormsProgram: Program {
    static func run() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES parent(id), info TEXT);
                    INSERT INTO parent VALUES (1, 'Arthur'), (2, 'Barbara');
                    INSERT INTO child VALUES (1, 1, '{"city":"Paris","age":3}'), (2, 2, '{"city":"Rome","age":5}');
                    """)
        }
        try await queue.write { db in
            try tables(db)
            try literals(db)
            try aliases(db)
            try ids(db)
            try columns(db)
            try traces(db)
        }
        try await streams(queue)
    }

    private static func tables(_ db: Database) throws {
        for association in [Child.belongsTo(Parent.self), Child.belongsTo(Table("parent"))] {
            print(try Row.fetchAll(db, Child.including(required: association)).count)
        }
        for condition in [true, false] {
            let table = condition ? Table<Parent>("parent") : Table("child")
            print(table.tableName, try table.fetchCount(db))
            let association = condition ? Child.belongsTo(Parent.self) : Child.belongsTo(Table("parent"))
            print(try Child.joining(required: association.filter(Column("name") == "Arthur")).fetchAll(db).map(\.id))
        }
        print(try Table("parent").order(Column("id")).fetchAll(db))
    }

    private static func literals(_ db: Database) throws {
        print(try SQLRequest<Int>(literal: "SELECT id FROM child WHERE id IN \([])").fetchAll(db))
        print(
            try SQLRequest<Int>(literal: "SELECT id FROM child WHERE id NOT IN \([]) AND id IN \([1, 2])").fetchAll(db))
        let selectables: [any SQLSelectable] = [Column("id"), Column("name").forKey("n"), Column("id") + 1]
        for selectable in selectables {
            print(try SQLRequest<Row>(literal: "SELECT \(selectable) FROM parent").fetchOne(db)!)
        }
        let ordering: any SQLOrderingTerm = Column("id").desc
        print(try SQLRequest<Int>(literal: "SELECT id FROM parent ORDER BY \(ordering)").fetchAll(db))
    }

    private static func aliases(_ db: Database) throws {
        let child = TableAlias<Child>()
        let info = child[JSONColumn("info")]
        let request = Child.all().aliased(child)
        print(try request.filter(info["city"] == "Paris").fetchAll(db).map(\.id))
        print(try request.order(info["age"].desc).fetchAll(db).map(\.id))
        print(try String.fetchAll(db, request.select(info.jsonExtract(atPath: "$.city"))))
        print(try String.fetchAll(db, request.select(info.jsonRepresentation(atPath: "$.city"))))
        print(
            try String.fetchAll(
                db, request.select(Database.jsonArray([info, child[Column("id")]] as [any SQLExpressible]))))
        let joined = Parent.joining(required: Parent.children.aliased(child)).filter(info["age"] > 4)
        print(try joined.fetchAll(db).map(\.name))
    }

    private static func ids(_ db: Database) throws {
        print(try Parent.exists(db, id: nil), try Parent.deleteOne(db, id: nil))
        print(try Parent.exists(db, id: 1), try Parent.exists(db, id: 3), try Parent.deleteOne(db, id: 3))
    }

    private static func columns(_ db: Database) throws {
        for sql in ["SELECT 2 AS id, 3 AS ID", "SELECT 2 AS ID, 3 AS id", "SELECT 1 AS x, 2 AS Id, 3 AS id, 4 AS ID"] {
            let row = try Row.fetchOne(db, sql: sql)!
            let id: Int64 = row["id"]
            print(id, try Child(row: row).id ?? 0, try Child.fetchOne(db, sql: sql)?.id ?? 0)
        }
    }

    private static func traces(_ db: Database) throws {
        let request: SQLRequest<Row> = "SELECT * FROM child NATURAL JOIN parent"
        db.trace { print("trace:", $0) }
        print(try request.fetchAll(db).count)
        _ = try request.databaseRegion(db)
        db.trace()
    }

    private static func streams(_ queue: DatabaseQueue) async throws {
        let stream = Pieces()
        let observation = ValueObservation.tracking { db in try Parent.fetchAll(db).count }.print("parents", to: stream)
        for try await count in observation.values(in: queue, scheduling: .task) {
            print(count)
            break
        }
        print(stream.pieces.prefix(4))
    }
}

private struct Parent: Codable, FetchableRecord, PersistableRecord, Identifiable {
    static let children = hasMany(Child.self)

    var id: Int64?
    var name: String
}

private struct Child: Codable, FetchableRecord, PersistableRecord, Identifiable {
    var id: Int64?
}

/// The texts that are written, call by call.
private final class Pieces: TextOutputStream, @unchecked Sendable {
    private let lock = NSLock()
    private var written: [String] = []

    var pieces: [String] { lock.withLock { written } }

    func write(_ string: String) { lock.withLock { written.append(string) } }
}
