import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Security". `SecurityTests` has the attacks.
@Suite struct SecuritySamples {
    struct Note: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var author: String
        var title: String

        enum Columns {
            static let id = Column("id")
            static let author = Column("author")
            static let title = Column("title")
        }
    }

    let folder: TemporaryFolder
    let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, author TEXT, title TEXT);
                    INSERT INTO note VALUES (1, 'arthur', '100% cotton'), (2, 'barbara', '100 things'), (3, 'eve', '');
                    """)
        }
    }

    @Test func values() throws {
        try dbQueue.write { db in
            let title = "' OR 1 --"
            try db.inSavepoint {
                // Never: the user's text becomes SQL, and deletes every note.
                try db.execute(sql: "DELETE FROM note WHERE title = '\(title)'")
                #expect(db.changesCount == 3)
                return .rollback
            }
            // The value is an argument in each of these.
            try db.execute(sql: "DELETE FROM note WHERE title = ?", arguments: [title])
            try db.execute(literal: "DELETE FROM note WHERE title = \(title)")
            try Note.filter { $0.title == title }.deleteAll(db)
            try Note.filter(sql: "title = ?", arguments: [title]).deleteAll(db)
            try Note.filter(literal: "title = \(title)").deleteAll(db)

            #expect(try Note.fetchCount(db) == 3)
        }
    }

    @Test func patterns() throws {
        try dbQueue.read { db in
            let typed = "100%"
            let pattern = typed.replacing(/[\\%_]/) { "\\\($0.output)" }
            let notes = try Note.filter { $0.title.like("%\(pattern)%", escape: "\\") }.fetchAll(db)
            // SELECT * FROM "note" WHERE "title" LIKE '%100\%%' ESCAPE '\'

            #expect(notes.map(\.id) == [1])
            try expectEmitted(db, #"SELECT * FROM "note" WHERE "title" LIKE '%100\%%' ESCAPE '\'"#) {
                _ = try Note.filter { $0.title.like("%\(pattern)%", escape: "\\") }.fetchAll(db)
            }
        }
    }

    enum Sorting: String {
        case author, title

        var ordering: any SQLOrderingTerm {
            switch self {
            case .author: Note.Columns.author
            case .title: Note.Columns.title.collating(.nocase)
            }
        }
    }

    func notes(sortedBy parameter: String, _ db: Database) throws -> [Note]? {
        guard let sorting = Sorting(rawValue: parameter) else { return nil }  // answer 400
        return try Note.order(sorting.ordering).fetchAll(db)
    }

    @Test func names() throws {
        try dbQueue.read { (db) throws in
            #expect(try notes(sortedBy: "title", db)?.map(\.id) == [3, 2, 1])
            #expect(try notes(sortedBy: "author; DROP TABLE note", db) == nil)
        }
    }

    @Test func lengths() throws {
        let requested = -1
        let page = try dbQueue.read { db in
            try Note.order(\.id).limit(min(max(requested, 1), 100)).fetchAll(db)
        }
        #expect(page.map(\.id) == [1])
    }

    @Test func files() throws {
        let uploadPath = folder.file("upload.sqlite")
        do {
            try DatabaseQueue(path: uploadPath).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        }

        var config = Configuration()
        config.readonly = true
        config.acceptsURIs = false  // `file:a?mode=memory` is a file of that name
        config.trustedSchema = false  // views and triggers call no function with side effects
        config.defensive = true  // SQL that could damage the file throws
        config.statementTimeout = 5  // a view may be a query that never ends
        config.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cell_size_check = ON")  // looks for damage when a page is read
            try db.setLimit(.length, to: 10_000_000)  // bytes of a value
        }
        let upload = try DatabaseQueue(path: uploadPath, configuration: config)
        let problems = try upload.read { db in try db.integrityCheck() }  // []

        #expect(problems == [])
        try upload.read { (db) throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA cell_size_check") == 1)
            #expect(db.limit(.length) == 10_000_000)
            expectError(.SQLITE_TOOBIG) { try Row.fetchAll(db, sql: "SELECT zeroblob(10000001)") }
        }
    }

    @Test func permissions() throws {
        let path = folder.file("notes.sqlite")
        var config = Configuration()
        config.filePermissions = 0o600  // for the user of the process alone
        let dbPool = try DatabasePool(path: path, configuration: config)

        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try dbPool.close()
    }

    @Test func secrets() throws {
        let token = "hunter2"
        var logged: [String] = []
        func log(_ message: String) { logged.append(message) }
        try dbQueue.write { db in
            try db.execute(sql: "CREATE TABLE session (token TEXT NOT NULL, userId INTEGER NOT NULL)")
            do {
                try db.execute(sql: "INSERT INTO session VALUES (?, ?)", arguments: [token, nil])
            } catch let error as DatabaseError {
                log("\(error)")  // … NOT NULL constraint failed: session.userId - while executing `INSERT … (?, ?)`
                _ = error.expandedDescription  // the same, with the token
            }
        }
        #expect(logged.count == 1)
        #expect(logged.allSatisfy { $0.hasSuffix("`INSERT INTO session VALUES (?, ?)`") && !$0.contains(token) })
    }

    @Test func deletedContent() throws {
        var config = Configuration()
        config.secureDelete = true
        let dbQueue = try DatabaseQueue(path: folder.file("notes.sqlite"), configuration: config)

        #expect(try dbQueue.read { db in try Int.fetchOne(db, sql: "PRAGMA secure_delete") } == 1)
    }
}
