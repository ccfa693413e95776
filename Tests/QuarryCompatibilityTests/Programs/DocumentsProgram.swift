import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Records that are identified by a UUID, a text, or a type of the program's own.
enum DocumentsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "document") { t in
                t.primaryKey("uuid", .blob)
                t.column("title", .text).notNull()
            }
            try db.create(table: "attachment") { t in
                t.primaryKey("id", .text)
                t.column("documentId", .text).notNull().indexed()
            }
            try db.create(table: "country") { t in
                t.primaryKey("code", .text)
                t.column("name", .text).notNull().unique()
            }
            try db.create(table: "invoice") { t in
                t.primaryKey("id", .integer)
                t.column("amount", .integer).notNull()
            }
        }

        let first = UUID(uuidString: "00000000-0000-4000-8000-00000000000A")!
        let second = UUID(uuidString: "00000000-0000-4000-8000-00000000000B")!
        try dbQueue.write { db in
            try Document(id: first, title: "Charter").insert(db)
            try Document(id: second, title: "Letter").insert(db)
            print(try Document.find(db, id: first).title, try Document.exists(db, id: UUID()))
            print(try Document.fetchAll(db, ids: [first, second]).map(\.title).sorted())
            print(try Document.filter(ids: [second]).fetchOne(db)?.title ?? "none")
            print(try Document.filter(id: first).selectID().fetchAll(db) == [first])
            print(try Row.fetchAll(db, sql: "SELECT typeof(uuid), hex(uuid) FROM document ORDER BY uuid"))
            do {
                try Document(id: first, title: "Again").insert(db)
            } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
                print("the document exists")
            }
            try Document(id: first, title: "Charter, amended").upsert(db)
            print(try Document.fetchOne(db, key: first)?.title ?? "none")
            print("deleted", try Document.deleteOne(db, id: second), try Document.fetchCount(db))
        }

        // Texts instead of blobs.
        try dbQueue.write { db in
            let attachment = Attachment(id: first, documentId: second)
            try attachment.insert(db)
            print(try Row.fetchOne(db, sql: "SELECT * FROM attachment")!)
            print(try Attachment.fetchOne(db, id: first) == attachment)
            print(try Attachment.filter(id: first).fetchCount(db))
            print(try Attachment.deleteOne(db, id: second), try Attachment.deleteOne(db, id: first))
        }

        try dbQueue.write { db in
            try Country(code: "FR", name: "France").insert(db)
            try Country(code: "DE", name: "Germany").insert(db)
            print(try Country.fetchOne(db, key: "FR")?.name ?? "none")
            print(try Country.fetchOne(db, key: ["name": "Germany"])?.code ?? "none")
            print(try Country.filter(keys: ["FR", "DE", "XX"]).order(Column("code")).fetchAll(db).map(\.name))
            print(try Country.filter(key: ["name": "France"]).fetchCount(db))
            print(try Country.exists(db, key: "DE"), try Country.exists(db, key: ["name": "Spain"]))
            do {
                _ = try Country.find(db, key: "ES")
            } catch RecordError.recordNotFound(let table, let key) {
                print(table, key)
            }
            print(try Country(code: "FR", name: "République française").updateAndFetch(db).name)
            do {
                try Country(code: "FR", name: "Germany").update(db)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                print(error.resultCode.rawValue, error.message ?? "")
            }
            print(try Country.deleteAll(db, keys: ["FR", "XX"]), try Country.deleteOne(db, key: ["name": "Germany"]))
        }

        try dbQueue.write { db in
            var invoice = Invoice(id: nil, amount: 250)
            try invoice.insert(db)
            print("invoice", invoice.id?.rawValue ?? -1)
            let another = try Invoice(id: Invoice.ID(rawValue: 7), amount: 300).inserted(db)
            print(try Invoice.fetchOne(db, key: another.id)?.amount ?? -1)
            print(try Invoice.select(Column("id"), as: Invoice.ID.self).fetchAll(db).map(\.rawValue))
            print(try Invoice.filter(Column("id") == Invoice.ID(rawValue: 1)).fetchOne(db)?.amount ?? -1)
        }
    }
}

private struct Document: Codable, Identifiable, FetchableRecord, PersistableRecord {
    enum CodingKeys: String, CodingKey {
        case id = "uuid"
        case title
    }

    var id: UUID
    var title: String
}

private struct Attachment: Codable, Identifiable, Equatable, FetchableRecord, PersistableRecord {
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        column == "id" ? .uppercaseString : .lowercaseString
    }

    var id: UUID
    var documentId: UUID
}

private struct Country: Codable, Identifiable, FetchableRecord, PersistableRecord {
    var id: String { code }
    let code: String
    let name: String
}

private struct Invoice: Codable, FetchableRecord, MutablePersistableRecord {
    struct ID: RawRepresentable, Codable, Hashable, DatabaseValueConvertible {
        var rawValue: Int64
    }

    var id: ID?
    var amount: Int

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = ID(rawValue: inserted.rowID)
    }
}
