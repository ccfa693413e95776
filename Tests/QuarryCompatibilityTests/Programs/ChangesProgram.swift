import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Upserts, updates and deletions of many rows, what statements return, and conflicts.
enum ChangesProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "vocabulary") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("word", .text).notNull().unique()
                t.column("kind", .text).notNull()
                t.column("isTainted", .boolean).notNull().defaults(to: false)
                t.column("count", .integer).notNull().defaults(to: 1)
            }
        }

        try dbQueue.write { db in
            var word = Vocabulary(word: "jovial", kind: "adj")
            try word.insert(db)
            try Vocabulary.updateAll(db, Vocabulary.Columns.isTainted.set(to: true))
            var again = Vocabulary(word: "jovial", kind: "adjective")
            let upserted = try again.upsertAndFetch(
                db, onConflict: ["word"],
                doUpdate: { excluded in
                    [
                        Vocabulary.Columns.count += 1,
                        Vocabulary.Columns.kind.set(to: excluded[Vocabulary.Columns.kind]),
                        Vocabulary.Columns.isTainted.noOverwrite,
                    ]
                })
            print(upserted, again.id ?? -1)
            var third = Vocabulary(word: "jovial", kind: "?", isTainted: true)
            try third.upsert(db)
            print(try Vocabulary.fetchAll(db))
            var fourth = Vocabulary(word: "jovial", kind: "!")
            let kept = try fourth.upsertAndFetch(
                db, onConflict: ["word"], updating: .noColumnUnlessSpecified,
                doUpdate: { _ in [Vocabulary.Columns.count.set(to: 10)] })
            print(kept)
            var fifth = Vocabulary(word: "new", kind: "adj")
            print(try fifth.upsertAndFetch(db, as: Vocabulary.self), fifth.id ?? -1)
        }

        try dbQueue.write { db in
            for word in ["a", "b", "c", "d"] {
                var record = Vocabulary(word: word, kind: "letter")
                try record.insert(db)
            }
            let letters = Vocabulary.filter(Vocabulary.Columns.kind == "letter")
            print(
                try letters.updateAll(
                    db, Vocabulary.Columns.count *= 3,
                    Vocabulary.Columns.isTainted.set(to: Vocabulary.Columns.word > "b")))
            print(
                try letters.order(Vocabulary.Columns.word.desc).limit(2).updateAll(db, [Vocabulary.Columns.count -= 1]))
            print(try letters.updateAll(db) { [$0.count += $0.id] })
            print(
                try letters.order(Column("id")).fetchAll(db).map(\.count),
                try letters.select(sum(Column("count")), as: Int.self).fetchOne(db) ?? -1)
            print(
                try letters.updateAndFetchAll(db, [Vocabulary.Columns.kind.set(to: "sign")]).map(\.word).sorted(),
                try letters.fetchCount(db))
            print(
                try Vocabulary.filter(Column("word") == "c").updateAndFetchCursor(db, [Vocabulary.Columns.count /= 2])
                    .next() ?? "none")
            let statement = try Vocabulary.filter(Column("word") == "d").updateAndFetchStatement(
                db, [Vocabulary.Columns.count.set(to: 0)], selection: [Column("word")])
            print(try String.fetchAll(statement))
            print(
                try Vocabulary.filter(Column("count") == 0).deleteAndFetchAll(db).map(\.word),
                try Vocabulary.fetchCount(db))
            print(try Vocabulary.filter(Column("kind") == "sign").deleteAndFetchIds(db).compactMap { $0 }.sorted())
            print(
                try Vocabulary.order(Column("id").desc).limit(1).deleteAll(db), try Vocabulary.fetchAll(db).map(\.word))
            print(
                try Vocabulary.updateAll(db, onConflict: .ignore, Vocabulary.Columns.word.set(to: "jovial")),
                try Vocabulary.updateAll(db, []))
            print(try Vocabulary.deleteAll(db, ids: [1, 2, 3]), try Vocabulary.exists(db, id: 1))
        }

        try dbQueue.write { db in
            var word = try Vocabulary(word: "one", kind: "n").insertAndFetch(db)
            word.kind = "number"
            print(
                try word.updateAndFetch(db), try word.updateChangesAndFetch(db) { $0.count = 5 }?.count ?? -1,
                try word.updateChangesAndFetch(db) { $0.count = 5 } == nil)
            print(try word.saveAndFetch(db).count)
            print(
                try word.updateChangesAndFetch(
                    db, selection: [Column("word"), Column("count")], fetch: { try Row.fetchOne($0)! }
                ) { $0.word = "uno" } ?? [:])
            var other = Vocabulary(word: "two", kind: "n")
            print(try other.insertAndFetch(db, selection: [Column("id"), Column("count")]) { try Row.fetchOne($0)! })
            let score = try other.saveAndFetch(db, selection: [Column("isTainted")]) { try Bool.fetchOne($0) }
            print(score ?? true, other.id ?? -1)
            for policy in [Database.ConflictResolution.ignore, .replace] {
                var duplicate = Vocabulary(word: "two", kind: "\(policy)")
                try duplicate.insert(db, onConflict: policy)
            }
            print(try Vocabulary.filter(Column("word") == "two").fetchAll(db).map(\.kind))
            do {
                var changed = try Vocabulary.find(db, key: ["word": "two"])
                changed.word = "uno"
                try changed.update(db, onConflict: .abort)
            } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
                print("unique")
            }
            print(
                try Row.fetchAll(
                    db, sql: "INSERT INTO vocabulary (word, kind) VALUES ('x', 'k'), ('y', 'k') RETURNING word, count"))
            print(
                try String.fetchOne(db, sql: "DELETE FROM vocabulary WHERE word = ? RETURNING kind", arguments: ["x"])
                    ?? "none")
            let statement = try db.makeStatement(sql: "UPDATE vocabulary SET kind = ? WHERE word = ? RETURNING *")
            print(try Vocabulary.fetchOne(statement, arguments: ["letter", "y"])?.kind ?? "none", db.changesCount)
        }
    }
}

private struct Vocabulary: Codable, FetchableRecord, MutablePersistableRecord, CustomStringConvertible {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let word = Column(CodingKeys.word)
        static let kind = Column(CodingKeys.kind)
        static let isTainted = Column(CodingKeys.isTainted)
        static let count = Column(CodingKeys.count)
    }

    var id: Int64?
    var word: String
    var kind: String
    var isTainted = false
    var count = 1

    var description: String { "\(id ?? -1) \(word) \(kind) \(isTainted) \(count)" }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension Vocabulary: Identifiable {}
