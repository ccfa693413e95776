import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

@Suite struct RestoreTests {
    let folder: TemporaryFolder
    let sources: TemporaryFolder
    var source: String { sources.file("source.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        sources = try TemporaryFolder()
    }

    /// Makes a source with 40 rows of pages, and other tables.
    private func makeSource(_ configuration: Configuration = Configuration()) throws {
        let queue = try DatabaseQueue(path: source, configuration: configuration)
        try queue.makePages(40)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE restored (a, b); INSERT INTO restored VALUES (1, 'x');
                    PRAGMA user_version = 7; PRAGMA application_id = 1234
                    """)
        }
        try queue.close()
    }

    @Test(arguments: WriterKind.allCases, CallForm.allCases) func replacesTheContent(
        kind: WriterKind, form: CallForm
    ) async throws {
        try makeSource()
        let writer = try kind.make(folder)
        try writer.makePages(100)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE old (a, b)") }
        // Statements and the schema are cached on all connections.
        for _ in 0..<3 { #expect(try rowCount(of: writer) == 100) }
        #expect(try writer.readHere { db in try db.tableExists("old") })
        let mode = try writer.writeHere { db in try db.journalMode() }
        let synchronous = try writer.writeHere { db in try db.synchronousMode() }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: source))

        try await writer.restore(form, from: source)

        #expect(try rowCount(of: writer) == 40)
        #expect(try contents(of: writer) == contents(ofFile: source))
        #expect(
            try writer.readHere { db in try (db.tableExists("old"), db.tableExists("restored"), db.userVersion()) } == (
                false, true, 7
            ))
        #expect(try writer.readHere { db in try db.applicationID() } == 1234)
        #expect(try writer.writeHere { db in try (db.journalMode(), db.synchronousMode()) } == (mode, synchronous))
        #expect(try sources.names == ["source.sqlite"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == bytes)
        try writer.insertPage()
        #expect(try rowCount(of: writer) == 41)
        let path = writer.path
        try writer.close()
        if kind != .memoryQueue { #expect(try contents(ofFile: path).last == "ok") }
    }

    @Test(arguments: CallForm.allCases) func accessesWaitInOrder(form: CallForm) async throws {
        try makeSource()
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(3)
        let isReading = Step("a read runs")
        let mayEnd = Step("the read may end")
        let reader = OwnThread {
            try pool.read { db in
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
                isReading.reach()
                try mayEnd.wait()
                return try [count, Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")]
            }
        }
        try await isReading.reached()
        let restore = Task { try await pool.restore(form, from: source) }
        try await until("the restoration waits for the read") {
            pool.readers.group.waiterCount == 1
        }
        // Both arrive later, so they see the restored content.
        let read = Task { try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } }
        let write = Task {
            try await pool.write { db in
                try db.execute(sql: "INSERT INTO t (b) VALUES (1)")
                return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
            }
        }
        try await until("both wait") {
            pool.readers.group.waiterCount == 2 && pool.writer.group.waiterCount == 1
        }
        mayEnd.reach()
        #expect(try await reader.value == [3, 3])
        try await restore.value
        #expect(try await read.value.map { 40...41 ~= $0 } == true)
        #expect(try await write.value == 41)
    }

    // MARK: - Those who watch

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .walQueue, .pool], CallForm.allCases) func watchersAreTold(
        kind: WriterKind, form: CallForm
    ) async throws {
        try makeSource()
        let writer = try kind.make(folder)
        try writer.makePages(3)
        var iterator = writer.commits.makeAsyncIterator()
        let number = writer.lastCommitNumber
        let counts = Recorded<[Int]>([])
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1 }
            .start(
                in: writer, scheduling: .async(onQueue: .global()), onError: { Issue.record($0) },
                onChange: { count in counts.update { $0.append(count) } })
        defer { observation.cancel() }
        try await until("the first value") { counts.value == [3] }
        try await writer.restore(form, from: source)
        try await until("the restored value") { counts.value.last == 40 }
        try writer.insertPage()
        try await until("a later value") { counts.value.last == 41 }
        let first = try #require(await iterator.next())
        #expect(first.changes.containsChange(in: "anything") && first.source == .database)
        #expect(first.number == CommitNumber(rawValue: number.rawValue + 1))
        let second = try #require(await iterator.next())
        #expect(second.number == CommitNumber(rawValue: number.rawValue + 2), "one commit for the restoration")
        #expect(!second.changes.containsChange(in: "anything"))
    }

    @Test func snapshotsKeepTheirState() async throws {
        try makeSource()
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(3)
        let snapshot = try pool.makeSnapshot()
        let snapshots = try pool.makeSnapshotPool()
        let stable = try await pool.makeStableReader()
        let before = try contents(of: snapshot)
        try await pool.restore(from: source)
        #expect(try contents(of: pool) == contents(ofFile: source))
        for reader in [snapshot, snapshots, stable] as [any DatabaseReader] {
            #expect(try contents(of: reader) == before)
        }
        let commits = try await stable.advance()
        #expect(commits.count == 1 && commits[0].changes.containsChange(in: "t"))
        #expect(try contents(of: stable) == contents(ofFile: source))
        #expect(try contents(of: snapshot) == before)
    }

    @Test(arguments: [WriterKind.fileQueue, .pool, .memoryQueue]) func storedNumbersGoOn(kind: WriterKind) async throws
    {
        var configuration = Configuration()
        configuration.commitNumbers = .stored
        let writer = try kind.make(folder, configuration)
        try writer.makePages(3)
        try await writer.backup(toFile: source)
        for _ in 0..<10 { try writer.insertPage() }
        let last = writer.lastCommitNumber
        let bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        try await writer.restore(from: source)
        #expect(try rowCount(of: writer) == 3)
        #expect(writer.lastCommitNumber == CommitNumber(rawValue: last.rawValue + 1))
        let (_, next) = try await writer.writeWithCommitNumber { db in try db.execute(sql: "DELETE FROM t") }
        #expect(next == CommitNumber(rawValue: last.rawValue + 2))
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == bytes)
        // A source without numbers, and one with higher ones.
        try FileManager.default.removeItem(atPath: source)
        try makeSource()
        try await writer.restore(from: source)
        #expect(writer.lastCommitNumber == CommitNumber(rawValue: last.rawValue + 3))
        let ahead = try DatabaseQueue(path: source, configuration: configuration)
        for _ in 0..<30 { try ahead.insertPage() }
        let high = ahead.lastCommitNumber
        try ahead.close()
        try await writer.restore(from: source)
        let after = max(high, CommitNumber(rawValue: last.rawValue + 3)).rawValue + 1
        #expect(writer.lastCommitNumber == CommitNumber(rawValue: after))
        guard kind != .memoryQueue else { return }
        try writer.close()
        let reopened = try kind.make(folder, configuration)
        #expect(reopened.lastCommitNumber == CommitNumber(rawValue: after), "the number is in the file")
    }

    /// Another connection commits between the look at the number and the lock.
    @Test func storedNumberOfAnotherProcessIsPassed() throws {
        var configuration = Configuration()
        configuration.commitNumbers = .stored
        let pool = try DatabasePool(path: folder.file("db"), configuration: configuration)
        try pool.makePages(3)
        let other = try DatabasePool(path: folder.file("db"), configuration: configuration)
        try makeSource()
        let seen = try pool.writeHere { db in db.commitNumberInFile }
        let copy = try DatabaseQueue(path: source)
        let isReplaced = try pool.barrierWriteWithoutTransaction { db in
            let version = db.lastDataVersion
            try other.insertPage()
            return try copy.read { copy in
                try db.replaceContent(with: copy, commitNumber: 99) { db.lastDataVersion == version }
            }
        }
        #expect(!isReplaced)
        #expect(try rowCount(of: pool) == 4)
        try pool.restore(from: source)
        let now = try pool.writeHere { db in db.commitNumberInFile }
        #expect(now == seen.map { $0 + 2 })
    }

    // MARK: - Sources

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool]) func sourcesThatAreNone(kind: WriterKind) async throws
    {
        let writer = try kind.make(folder)
        try writer.makePages(3)
        let before = try contents(of: writer)
        let name = writer.path
        func refuses(
            _ path: String, _ code: ResultCode, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            for form in CallForm.allCases {
                await expectError(code, "restoring \(name) from \(path): \(reason)", sourceLocation: sourceLocation) {
                    try await writer.restore(form, from: path)
                }
            }
        }
        await refuses(source, .SQLITE_CANTOPEN, "the file does not exist")
        await refuses("", .SQLITE_CANTOPEN, "the file does not exist")
        await refuses(
            source + "\0x", .SQLITE_CANTOPEN, "the path has a NUL character: \(String(reflecting: source + "\0x"))")
        await refuses(sources.path, .SQLITE_CANTOPEN, "it is a folder")
        try Data().write(to: URL(fileURLWithPath: source))
        await refuses(source, .SQLITE_NOTADB, "the file is empty")
        try Data(repeating: 0x41, count: 9000).write(to: URL(fileURLWithPath: source))
        await refuses(source, .SQLITE_NOTADB, "file is not a database")
        if kind != .memoryQueue {
            await refuses(name, .SQLITE_MISUSE, "it is the file of the database itself")
            try FileManager.default.linkItem(atPath: name, toPath: sources.file("hard"))
            await refuses(sources.file("hard"), .SQLITE_MISUSE, "it is the file of the database itself")
            try Data([0]).write(to: URL(fileURLWithPath: name + "-journal"))
            await refuses(name + "-journal", .SQLITE_MISUSE, "it is the file of the database itself")
            try FileManager.default.removeItem(atPath: name + "-journal")
        }
        try FileManager.default.removeItem(atPath: source)
        try makeSource()
        let file = try #require(FileHandle(forUpdatingAtPath: source))
        try file.seek(toOffset: 4096 * 3)
        file.write(Data(repeating: 0x55, count: 4096))
        try file.close()
        for form in CallForm.allCases {
            await expectError(.SQLITE_CORRUPT) { try await writer.restore(form, from: source) }
        }
        #expect(try contents(of: writer) == before)
        try writer.insertPage()
        // It is restored if that is asked for.
        try await writer.restore(from: source, check: .none)
        #expect(try writer.readHere { db in try db.userVersion() } == 7)
    }

    /// The source is in WAL mode, and in use: its log is read, too.
    @Test func sourceWithALog() throws {
        let other = try DatabasePool(path: source)
        try other.makePages(20)
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.restore(from: source)
        #expect(try contents(of: pool) == contents(of: other))
        try other.insertPage()
        #expect(try rowCount(of: pool) == 20)
    }

    @Test func sourceThatWasNotClosed() throws {
        try makeSource()
        // A journal of a transaction that was not completed, as a killed process leaves it.
        let queue = try DatabaseQueue(path: source)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 2; BEGIN; UPDATE t SET b = zeroblob(3900)")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: source + suffix, toPath: sources.file("copy") + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(3)
        let error = expectError(.SQLITE_READONLY_ROLLBACK) { try pool.restore(from: sources.file("copy")) }
        #expect(error?.message?.contains("it was not closed, and has to be opened for writing once") == true)
        #expect(try rowCount(of: pool) == 3)
        try DatabaseQueue(path: sources.file("copy")).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA user_version = 8")
        }
        try pool.restore(from: sources.file("copy"))
        #expect(try rowCount(of: pool) == 40)
    }

    @Test(arguments: [512, 65_536]) func otherPageSize(size: Int) async throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA page_size = \(size)") }
        try makeSource(configuration)
        for kind in [WriterKind.fileQueue, .walQueue, .pool] {
            let writer = try kind.make(folder)
            try writer.makePages(3)
            for _ in 0..<2 { #expect(try rowCount(of: writer) == 3) }
            let snapshot = try (writer as? DatabasePool)?.makeSnapshot()
            if let snapshot {
                await expectError(
                    .SQLITE_BUSY,
                    """
                    restoring \(writer.path) from \(source): the file has pages of \(size) bytes, the database of 4096, \
                    which can change only while no other connection is open
                    """
                ) { try await writer.restore(from: source) }
                #expect(try rowCount(of: writer) == 3)
                try snapshot.close()
            }
            try await writer.restore(from: source)
            #expect(try contents(of: writer) == contents(ofFile: source))
            #expect(try writer.readHere { db in try db.pageSize() } == size)
            let mode = try writer.writeHere { db in try db.journalMode() }
            #expect(mode == (kind == .fileQueue ? .delete : .wal))
            try writer.insertPage()
            #expect(try contents(of: writer).last == "ok")
            try writer.close()
        }
        let memory = try DatabaseQueue()
        try memory.makePages(3)
        await expectError(
            .SQLITE_ERROR,
            """
            restoring :memory: from \(source): the file has pages of \(size) bytes, the database of 4096, which can't \
            change in memory
            """
        ) { try await memory.restore(from: source) }
        #expect(try rowCount(of: memory) == 3)
    }

    @Test func otherEncoding() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA encoding = 'UTF-16le'") }
        try makeSource(configuration)
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(3)
        expectError(
            .SQLITE_ERROR,
            """
            restoring \(pool.path) from \(source): its text is in UTF-16le, that of the open database in UTF-8, which \
            can't be changed
            """
        ) { try pool.restore(from: source) }
        #expect(try rowCount(of: pool) == 3)
        // The numbers of a database in the same encoding are written to a copy in that encoding.
        configuration.commitNumbers = .stored
        let wide = try DatabasePool(path: folder.file("wide"), configuration: configuration)
        try wide.restore(from: source)
        #expect(try contents(of: wide) == contents(ofFile: source))
    }

    @Test(arguments: [0, 1, 2], [0, 1, 2]) func otherAutoVacuum(old: Int, new: Int) throws {
        func configuration(_ mode: Int) -> Configuration {
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = \(mode)") }
            }
            return configuration
        }
        try makeSource(configuration(new))
        let pool = try DatabasePool(path: folder.file("db"), configuration: configuration(old))
        try pool.makePages(60)
        try pool.restore(from: source)
        #expect(try pool.writeHere { db in try db.autoVacuumMode() } == .init(rawValue: new))
        try pool.write { db in
            try db.execute(
                sql: "DELETE FROM t WHERE a % 3 = 0; CREATE TABLE u (a, b); INSERT INTO u SELECT * FROM t; DROP TABLE t"
            )
        }
        #expect(try contents(of: pool).last == "ok")
    }

    // MARK: - Destinations

    @Test func readOnlyDatabases() async throws {
        try makeSource()
        try DatabasePool(path: folder.file("db")).makePages(3)
        var configuration = Configuration()
        configuration.readonly = true
        let path = folder.file("db")
        let writers: [any DatabaseWriter] = [
            try DatabaseQueue(path: path, configuration: configuration),
            try DatabasePool(path: path, configuration: configuration),
        ]
        for writer in writers {
            await expectError(.SQLITE_READONLY, "restoring \(path): the database is read-only") {
                try await writer.restore(from: source)
            }
            expectError(.SQLITE_READONLY, "restoring \(path): the database is read-only") {
                try writer.restore(from: source)
            }
        }
    }

    @Test func insideAccesses() throws {
        try makeSource()
        for kind in [WriterKind.fileQueue, .pool] {
            let writer = try kind.make(folder)
            try writer.makePages(3)
            for access in [writer.read, writer.unsafeRead, writer.write, writer.writeWithoutTransaction]
                as [((Database) throws -> Void) throws -> Void]
            {
                expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
                    try access { _ in try writer.restore(from: source) }
                }
            }
            #expect(try rowCount(of: writer) == 3)
        }
    }

    /// Only the file's own pages tell that it is one: they are damaged.
    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool]) func damagedDatabase(kind: WriterKind) throws {
        try makeSource()
        let writer = try kind.make(folder)
        try writer.makePages(30)
        if kind != .fileQueue { try writer.writeHere { db in _ = try db.checkpoint(.truncate) } }
        let file = try #require(FileHandle(forUpdatingAtPath: writer.path))
        file.write(Data(repeating: 0x55, count: 4096 * 5))
        try file.close()
        try writer.restore(from: source)
        #expect(try contents(of: writer) == contents(ofFile: source))
        try writer.insertPage()
        try writer.close()
        #expect(try contents(ofFile: writer.path).last == "ok")
    }

    @Test(arguments: ["OFF", "MEMORY"]) func unsafeJournalIsNotUsed(mode: String) throws {
        try makeSource()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if !db.configuration.readonly {
                try db.execute(sql: "PRAGMA journal_mode = \(mode); PRAGMA synchronous = OFF")
            }
        }
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: configuration)
        try queue.makePages(30)
        try queue.restore(from: source)
        let settings = try queue.writeHere { db in try (db.journalMode().rawValue, db.synchronousMode()) }
        #expect(settings == (mode.lowercased(), .off))
        #expect(try contents(of: queue) == contents(ofFile: source))
    }

    @Test func lockOfAnotherProcess() throws {
        try makeSource()
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        for kind in [WriterKind.fileQueue, .pool] {
            let writer = try kind.make(folder, configuration)
            try writer.makePages(3)
            let other = try DatabaseQueue(path: writer.path)
            try other.write { db in
                try db.execute(sql: "DELETE FROM t")
                expectError(.SQLITE_BUSY) { try writer.restore(from: source) }
            }
            #expect(try rowCount(of: writer) == 0)
            try writer.restore(from: source)
            #expect(try rowCount(of: other) == 40)
        }
    }

    @Test func keeperOfTheLogIsTold() throws {
        try makeSource()
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(1)
        try pool.writeHere { db in _ = try db.checkpoint(.truncate) }
        try pool.restore(from: source)
        #expect(try #require(pool.walStatistics).bytes > 40 * 4096)
    }
}
