import Quarry
import QuarryTestSupport
import Testing

/// Splits at spaces, and throws where the text has the word `bad`: after some tokens.
private final class FailingTokenizer: FTS5TextTokenizer {
    static let name = "failing"

    init(db: Database, arguments: [String]) {}

    func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws {
        for word in text.split(separator: UInt8(ascii: " ")) {
            switch String(decoding: word, as: UTF8.self) {
            case "bad": throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "a bad word")
            case "over": throw CancellationError()
            default: break
            }
            try tokens.add(utf8: UnsafeBufferPointer(rebasing: word), range: word.startIndex..<word.endIndex)
        }
    }
}

/// Passes on the tokens of `failing`.
private final class AroundFailing: FTS5WrapperTokenizer {
    static let name = "aroundFailing"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["failing"]))
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        try tokenCallback(token, flags)
    }
}

/// A tokenizer that fails in the midst of a text leaves no half of a row in the index.
@Suite("Tokenizers that fail") struct FailingTokenizerTests {
    /// A statement that fails after tokens of a text are in the index, and what SQLite takes back.
    struct Failure: Sendable, CustomTestStringConvertible {
        let sql: String
        let takesBackTransaction: Bool
        var testDescription: String { sql }
    }

    static let failures = [
        Failure(sql: "INSERT INTO document VALUES ('new words', 'more bad words')", takesBackTransaction: true),
        Failure(sql: "REPLACE INTO document (rowid, a) VALUES (1, 'more bad words')", takesBackTransaction: true),
        Failure(sql: "UPDATE document SET b = 'more bad words' WHERE rowid = 1", takesBackTransaction: true),
        Failure(sql: "INSERT INTO document VALUES ('one', 'row'), ('two', 'and bad')", takesBackTransaction: false),
        Failure(sql: "INSERT INTO document SELECT a, 'and bad' FROM document", takesBackTransaction: false),
        Failure(sql: "INSERT INTO source (a) VALUES ('through a bad trigger')", takesBackTransaction: false),
        Failure(sql: "UPDATE source SET a = 'through a bad trigger'", takesBackTransaction: false),
    ]

    private func withDocuments(_ tokenizer: String, _ body: (DatabaseQueue) throws -> Void) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(tokenizer: FailingTokenizer.self)
            db.add(tokenizer: AroundFailing.self)
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE document USING fts5(a, b, tokenize = '\(tokenizer)');
                    INSERT INTO document VALUES ('first words', 'second words');
                    CREATE TABLE source (id INTEGER PRIMARY KEY, a);
                    INSERT INTO source VALUES (7, 'good');
                    CREATE TRIGGER inserted AFTER INSERT ON source BEGIN
                        INSERT INTO document (rowid, a) VALUES (new.id + 100, new.a);
                    END;
                    CREATE TRIGGER updated AFTER UPDATE ON source BEGIN
                        INSERT INTO document (rowid, a) VALUES (new.id + 200, new.a);
                    END;
                    """)
        }
        try body(queue)
        // Integrity is checked by a statement of its own, and by one in a transaction with a change.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO document (document) VALUES ('integrity-check')")
        }
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO document VALUES ('last', 'words');
                    INSERT INTO document (document) VALUES ('integrity-check');
                    """)
            #expect(try String.fetchAll(db, sql: "SELECT a FROM document('last')") == ["last"])
            #expect(
                try String.fetchAll(db, sql: "SELECT a FROM document('new OR more OR one OR two OR through')") == [])
        }
    }

    @Test(arguments: failures, ["failing", "aroundFailing"])
    func theIndexIsWhole(_ failure: Failure, tokenizer: String) throws {
        try withDocuments(tokenizer) { queue throws in
            // The error leaves the closure.
            expectError(.SQLITE_CONSTRAINT, "a bad word", sql: failure.sql) {
                try queue.write { db in
                    try db.execute(sql: "INSERT INTO document VALUES ('kept', 'or not')")
                    try db.execute(sql: failure.sql)
                }
            }
            // The closure goes on.
            let aborted: ResultCode? = failure.takesBackTransaction ? .SQLITE_ABORT : nil
            expectError(aborted) { try queue.write { db in try goOn(db, after: failure, aborted) } }
            let kept = try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM document('kept')") }
            #expect(kept == (failure.takesBackTransaction ? 0 : 2))
        }
    }

    private func goOn(_ db: Database, after failure: Failure, _ aborted: ResultCode?) throws {
        try db.execute(sql: "INSERT INTO document VALUES ('kept', 'or not')")
        expectError(.SQLITE_CONSTRAINT, "a bad word") { try db.execute(sql: failure.sql) }
        #expect(db.isInsideTransaction != failure.takesBackTransaction)
        expectError(aborted) { try db.execute(sql: "INSERT INTO document VALUES ('kept too', 'or not')") }
    }

    /// A savepoint goes with its transaction.
    @Test(arguments: failures) func inASavepoint(_ failure: Failure) throws {
        try withDocuments("failing") { queue throws in
            expectError(failure.takesBackTransaction ? .SQLITE_ABORT : nil) {
                try queue.write { db in try failInSavepoint(db, failure) }
            }
        }
    }

    private func failInSavepoint(_ db: Database, _ failure: Failure) throws {
        try db.execute(sql: "INSERT INTO document VALUES ('kept', 'or not')")
        expectError(.SQLITE_CONSTRAINT, "a bad word") {
            try db.inSavepoint {
                try db.execute(sql: failure.sql)
                return .commit
            }
        }
    }

    /// Without a transaction, the statement alone is taken back.
    @Test(arguments: failures) func withoutTransaction(_ failure: Failure) throws {
        try withDocuments("failing") { queue throws in
            try queue.writeWithoutTransaction { db in
                expectError(.SQLITE_CONSTRAINT, "a bad word") { try db.execute(sql: failure.sql) }
                try db.execute(sql: "INSERT INTO document VALUES ('x', 'y')")
            }
        }
    }

    /// A row that can't be removed, since its text became one that fails, stays as it is.
    @Test func removing() throws {
        try withDocuments("failing") { queue throws in
            try queue.write { db in
                try db.execute(sql: "UPDATE document_content SET c1 = 'third bad' WHERE id = 1")
            }
            expectError(.SQLITE_CONSTRAINT, "a bad word") {
                try queue.write { db in try db.execute(sql: "DELETE FROM document WHERE rowid = 1") }
            }
            try queue.write { db in
                try db.execute(sql: "UPDATE document_content SET c1 = 'second words' WHERE id = 1")
            }
        }
    }

    /// A failure in a read rolls nothing back.
    @Test func reading() throws {
        try withDocuments("failing") { queue throws in
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE VIRTUAL TABLE small USING fts5(a, detail = 'column', tokenize = 'failing');
                        INSERT INTO small VALUES ('x y z');
                        UPDATE small_content SET c0 = 'x y bad';
                        """)
                expectError(.SQLITE_CONSTRAINT, "a bad word") {
                    try Row.fetchAll(db, sql: "SELECT highlight(small, 0, '[', ']') FROM small('x')")
                }
                expectError(DatabaseError.self) { try Row.fetchAll(db, sql: "SELECT * FROM document('bad')") }
                #expect(db.isInsideTransaction)
                try db.execute(sql: "DROP TABLE small")
            }
        }
    }

    /// A cancellation is one, also where SQLite is told of another error.
    @Test func cancellation() async throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in db.add(tokenizer: FailingTokenizer.self) }
        let queue = try DatabaseQueue(configuration: configuration)
        try await queue.write { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts5(a, tokenize = 'failing')")
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await queue.write { db in try db.execute(sql: "INSERT INTO document VALUES ('it is over')") }
        }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        let task = Task {
            try await queue.write { db in
                withUnsafeCurrentTask { $0?.cancel() }
                try db.execute(sql: "INSERT INTO document VALUES ('it is over')")
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await queue.write { db in try db.execute(sql: "INSERT INTO document (document) VALUES ('integrity-check')")
        }
    }
}
