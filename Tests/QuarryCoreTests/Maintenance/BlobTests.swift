import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct BlobTests {
    private func withFile(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.execute(
                sql: """
                    CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, content BLOB);
                    INSERT INTO file VALUES (1, 'one', x'0001020304050607'), (2, 'two', zeroblob(4)), (3, NULL, NULL);
                    """)
            try body(db)
        }
    }

    private func content(_ db: Database, _ id: Int) throws -> [UInt8]? {
        try [UInt8].fetchOne(db, sql: "SELECT content FROM file WHERE id = ?", arguments: [id])
    }

    @Test func reads() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
            #expect(blob.count == 8)
            #expect(blob.isReadOnly)
            #expect(try blob.read(count: 3) == [0, 1, 2])
            #expect(blob.position == 3)
            #expect(try blob.read(count: 2, at: 6) == [6, 7])
            #expect(blob.position == 3)
            #expect(try blob.read() == [3, 4, 5, 6, 7])
            #expect(try blob.read(count: 1) == [])
            try blob.seek(to: 7)
            #expect(try blob.read(count: 100) == [7])
            try blob.seek(to: 0)
            #expect(try blob.read(count: -1) == [])
            let bytes = try withUnsafeTemporaryAllocation(byteCount: 6, alignment: 1) { buffer in
                try blob.seek(to: 4)
                #expect(try blob.read(into: buffer) == 4)
                #expect(try blob.read(into: buffer) == 0)
                return Array(buffer.prefix(4))
            }
            #expect(bytes == [4, 5, 6, 7])
            #expect("\(blob)" == "<DatabaseBlob main.file.content of row 1>")
        }
    }

    @Test func readsText() throws {
        try withFile { (db) throws in
            #expect(try db.openBlob(table: "FILE", column: "NAME", rowID: 1).read() == Array("one".utf8))
        }
    }

    @Test func writes() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 2, readOnly: false)
            try blob.write([1, 2])
            #expect(blob.position == 2)
            try blob.write([9], at: 3)
            #expect(blob.position == 2)
            #expect(try blob.read() == [0, 9])
            try blob.write([])
            #expect(try content(db, 2) == [1, 2, 0, 9])
        }
    }

    @Test func writesInPieces() throws {
        var generator = SeededGenerator()
        print("writesInPieces: seed \(generator.seed)")
        try withFile { (db) throws in
            var expected = [UInt8](repeating: 0, count: 100_000)
            try db.execute(sql: "UPDATE file SET content = ? WHERE id = 2", arguments: [expected])
            let blob = try db.openBlob(table: "file", column: "content", rowID: 2, readOnly: false)
            for _ in 0..<200 {
                let offset = Int.random(in: 0..<expected.count, using: &generator)
                let count = Int.random(in: 0...min(5000, expected.count - offset), using: &generator)
                let piece = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
                expected.replaceSubrange(offset..<offset + count, with: piece)
                try blob.seek(to: offset)
                try blob.write(piece)
            }
            #expect(try blob.read(count: expected.count, at: 0) == expected)
            #expect(try content(db, 2) == expected)
        }
    }

    @Test func emptyBlob() throws {
        try withFile { (db) throws in
            try db.execute(sql: "UPDATE file SET content = x'' WHERE id = 2")
            let blob = try db.openBlob(table: "file", column: "content", rowID: 2, readOnly: false)
            #expect(blob.count == 0)
            #expect(try blob.read() == [])
            #expect(try blob.read(count: 0, at: 0) == [])
            try blob.write([])
            #expect(throws: DatabaseError.self) { try blob.write([1]) }
        }
    }

    @Test func ranges() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            for (count, offset) in [(9, 0), (1, 8), (-1, 0), (1, -1), (Int.max, 1), (1, Int.max)] {
                let error = expectError(.SQLITE_RANGE) { try blob.read(count: count, at: offset) }
                let range = "\(count) bytes from position \(offset) on"
                #expect(error?.message == "blob main.file.content of row 1: \(range) are outside of its 8 bytes")
            }
            try blob.seek(to: 7)
            expectError(.SQLITE_RANGE) { try blob.write([1, 2]) }
            #expect(blob.position == 7)
            #expect(try content(db, 1) == [0, 1, 2, 3, 4, 5, 6, 7])
            for position in [-1, 9, Int.max] {
                expectError(.SQLITE_RANGE) { try blob.seek(to: position) }
            }
            try blob.seek(to: 8)
        }
    }

    // MARK: - Errors

    @Test func openingNamesWhatIsWrong() throws {
        try withFile { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE w (k TEXT PRIMARY KEY, content) WITHOUT ROWID;
                    CREATE VIEW v AS SELECT * FROM file;
                    CREATE INDEX i ON file (name);
                    """)
            func message(
                _ table: String, _ column: String, _ rowID: Int64, schema: String = "main", readOnly: Bool = true
            )
                -> String?
            {
                expectError(DatabaseError.self) {
                    _ = try db.openBlob(table: table, column: column, rowID: rowID, schema: schema, readOnly: readOnly)
                }?.message
            }
            #expect(message("nope", "content", 1) == "blob main.nope.content of row 1: no such table: main.nope")
            #expect(message("file", "nope", 1) == "blob main.file.nope of row 1: no such column: \"nope\"")
            #expect(message("file", "content", 9) == "blob main.file.content of row 9: no such rowid: 9")
            #expect(message("file", "content", 3) == "blob main.file.content of row 3: cannot open value of type null")
            try db.execute(sql: "CREATE TABLE n (a); INSERT INTO n VALUES (1)")
            #expect(message("n", "a", 1) == "blob main.n.a of row 1: cannot open value of type integer")
            #expect(message("w", "content", 1) == "blob main.w.content of row 1: cannot open table without rowid: w")
            #expect(message("v", "content", 1) == "blob main.v.content of row 1: cannot open view: v")
            #expect(
                message("file", "content", 1, schema: "nope")
                    == "blob nope.file.content of row 1: no such table: nope.file")
            #expect(
                message("file", "name", 1, readOnly: false)
                    == "blob main.file.name of row 1: cannot open indexed column for writing")
        }
    }

    @Test func expiresWithItsRow() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            try blob.write([7])
            // Another row doesn't matter.
            try db.execute(sql: "UPDATE file SET name = 'x' WHERE id = 2")
            #expect(try blob.read(count: 1, at: 0) == [7])
            try db.execute(sql: "UPDATE file SET name = 'x' WHERE id = 1")
            for error in [
                expectError(DatabaseError.self) { _ = try blob.read(count: 1, at: 0) },
                expectError(DatabaseError.self) { _ = try blob.read(count: 0, at: 0) },
                expectError(DatabaseError.self) { try blob.write([1]) },
                expectError(DatabaseError.self) { try blob.reopen(rowID: 2) },
            ] {
                #expect(error?.resultCode == .SQLITE_ABORT)
                #expect(error?.message?.contains("blob main.file.content of row") == true)
            }
            try blob.close()
            #expect(try content(db, 1) == [7, 1, 2, 3, 4, 5, 6, 7])
        }
    }

    @Test func closedBlobThrows() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
            try blob.close()
            try blob.close()
            #expect(blob.count == 0)
            expectError(.SQLITE_MISUSE, "blob main.file.content of row 1: it is closed, or its access has ended") {
                try blob.read()
            }
            // To read nothing is a use, too.
            expectError(.SQLITE_MISUSE, "blob main.file.content of row 1: it is closed, or its access has ended") {
                try blob.read(count: 0, at: 0)
            }
            expectError(.SQLITE_RANGE) { try blob.read(count: 0, at: 1) }
        }
    }

    @Test func anEmptyBlobHasNoBytes() throws {
        try withFile { (db) throws in
            try db.execute(sql: "UPDATE file SET content = zeroblob(0) WHERE id = 3")
            let blob = try db.openBlob(table: "file", column: "content", rowID: 3)
            #expect(try blob.read() == [])
            #expect(try blob.read(count: 0, at: 0) == [])
            expectError(.SQLITE_RANGE) { try blob.read(count: 1, at: 0) }
        }
    }

    @Test func blobIsReopenedOnAnotherRow() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
            _ = try blob.read()
            try blob.reopen(rowID: 2)
            #expect(blob.rowID == 2)
            #expect(blob.count == 4)
            #expect(try blob.read() == [0, 0, 0, 0])
            expectError(.SQLITE_ERROR, "blob main.file.content of row 3: cannot open value of type null") {
                try blob.reopen(rowID: 3)
            }
            #expect(blob.count == 0)
            expectError(.SQLITE_ABORT) { try blob.reopen(rowID: 1) }
        }
    }

    // MARK: - Reading only

    @Test func readOnlyRules() throws {
        try withFile { (db) throws in
            let reading = try db.openBlob(table: "file", column: "content", rowID: 1)
            expectError(.SQLITE_READONLY, "blob main.file.content of row 1: it was opened for reading only") {
                try reading.write([1])
            }

            let writing = try db.openBlob(table: "file", column: "content", rowID: 2, readOnly: false)
            expectError(.SQLITE_READONLY) { try db.readOnly { try writing.write([1]) } }
            expectError(.SQLITE_READONLY) {
                _ = try db.readOnly {
                    try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
                }
            }
            let bytes = try db.readOnly {
                try db.openBlob(table: "file", column: "content", rowID: 1).read(count: 1) + writing.read()
            }
            #expect(bytes == [0, 0, 0, 0, 0])
            try writing.write([1], at: 0)
        }
    }

    // MARK: - Transactions and accesses

    @Test func closingCommitsOutsideATransaction() throws {
        try withTemporaryFolder { folder in
            let connection = try TestConnection(path: folder + "/db")
            var ends: [String] = []
            try connection.access { db in
                try db.execute(
                    sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, 'abc')")
                _ = db.hooks.onCommit {
                    ends.append("commit")
                    return true
                }
                let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
                try blob.write([65])
                #expect(ends == [])
                try blob.close()
                #expect(ends == ["commit"])
            }
        }
    }

    @Test func rollbackTakesWritesBack() throws {
        try withFile { (db) throws in
            try db.inTransaction {
                let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
                try blob.write([255])
                return .rollback
            }
            #expect(try content(db, 1)?.first == 0)
            try db.inTransaction {
                try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false).write([255])
                return .commit
            }
            #expect(try content(db, 1)?.first == 255)
        }
    }

    /// SQLite doesn't commit while something writes; a transaction can be committed later.
    @Test func openBlobKeepsATransactionFromCommitting() throws {
        try withFile { (db) throws in
            try db.beginTransaction()
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            try blob.write([255])
            expectError(.SQLITE_BUSY, "cannot commit transaction - SQL statements in progress") { try db.commit() }
            try blob.close()
            try db.commit()
            #expect(try content(db, 1)?.first == 255)
        }
    }

    @Test func vetoedCommitIsThrown() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            let veto = db.hooks.onCommit { false }
            try blob.write([255])
            expectError(.SQLITE_CONSTRAINT_COMMITHOOK) { try blob.close() }
            db.hooks.remove(veto)
            #expect(try content(db, 1)?.first == 0)
        }
    }

    @Test func endsWithItsAccess() throws {
        let connection = try TestConnection()
        var kept: DatabaseBlob?
        try connection.access { db in
            try db.execute(
                sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, 'abc')")
            kept = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
            try kept?.write([65])
        }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") { try kept?.read() }
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") { try kept?.read(count: 0, at: 0) }
        try connection.access { db in
            expectError(.SQLITE_MISUSE) { try kept?.read() }
            // It was closed, and so committed, when its access ended.
            #expect(try String.fetchOne(db, sql: "SELECT content FROM file") == "Abc")
            kept = nil
            try db.close()
        }
    }

    /// A failure of a blob that nobody closes is the access's.
    @Test func endOfAccessThrowsAFailedCommit() throws {
        let connection = try TestConnection()
        var kept: DatabaseBlob?
        expectError(.SQLITE_CONSTRAINT_COMMITHOOK) {
            try connection.access { db in
                try db.execute(
                    sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, 'abc')")
                kept = try db.openBlob(table: "file", column: "content", rowID: 1, readOnly: false)
                try kept?.write([65])
                _ = db.hooks.onCommit { false }
            }
        }
        #expect(kept != nil)
    }

    @Test func openBlobsKeepAConnectionFromClosing() throws {
        try withFile { (db) throws in
            let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
            expectError(.SQLITE_BUSY) { try db.close() }
            #expect(try blob.read(count: 1) == [0])
            try blob.close()
            try db.close()
        }
    }

    @Test func cancelledAccessReadsNoBlob() throws {
        let token = AccessToken()
        let connection = try TestConnection()
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                try db.execute(
                    sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, 'abc')")
                let blob = try db.openBlob(table: "file", column: "content", rowID: 1)
                token.cancel()
                _ = try blob.read()
            }
        }
    }
}
