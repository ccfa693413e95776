import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A dump throws its error, and the text written before stays.
@Suite struct DumpErrorTests {
    private func error(_ body: () throws -> Void) -> DatabaseError? {
        do {
            try body()
            return nil
        } catch { return error as? DatabaseError }
    }

    @Test func aTableThatIsNotThere() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        for stableOrder in [false, true] {
            let stream = DumpedText()
            let error = error { try dbQueue.dumpTables(["team", "nope"], stableOrder: stableOrder, to: stream) }
            #expect(error?.resultCode == .SQLITE_ERROR)
            #expect(error?.message == "no such table: nope")
            #expect(error?.sql == "SELECT * FROM \"nope\"")
            #expect(stream.text == "team\n1|Reds\n2|Blues\n3|None\n\nnope\n")
        }
        try dbQueue.read { (db) throws in #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1) }
    }

    @Test func sqlThatIsWrong() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        let stream = DumpedText()
        let missing = error { try dbQueue.dumpSQL("SELECT 1 AS a; SELECT * FROM nope", format: .json(), to: stream) }
        #expect(missing?.message == "no such table: nope")
        #expect(stream.text == "[{\"a\":1}]\n")
        let unbound = error { try dbQueue.dumpSQL("SELECT ?", to: stream) }
        #expect(unbound?.resultCode == .SQLITE_MISUSE)
        #expect(unbound?.message == "wrong number of statement arguments: 0")
        let rest = DumpedText()
        let overflow = error {
            try dbQueue.dumpSQL(
                "SELECT 1 AS a UNION ALL SELECT abs(-9223372036854775808)", format: .json(), to: rest)
        }
        #expect(overflow?.message == "integer overflow")
        #expect(rest.text == "[{\"a\":1}")
    }

    @Test func aPageThatIsDamaged() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("db.sqlite")
        let rootPage = try DatabaseQueue(path: path).write { db -> Int in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO t SELECT i, hex(zeroblob(50)) FROM n;
                    """)
            return try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master")!
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let size = Int(try file.seekToEnd())
        #expect(rootPage == 2 && size > 20 * 4096)
        try file.seek(toOffset: UInt64(10 * 4096))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let stream = DumpedText()
        let error = error { try DatabaseQueue(path: path).dumpTables(["t"], to: stream) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.message == "database disk image is malformed")
        let lines = stream.text.split(separator: "\n")
        #expect(lines.count > 100 && lines.count < 1000)
        #expect(lines.enumerated().allSatisfy { $1.hasPrefix("\($0 + 1)|00") })
    }

    // MARK: - Streams

    @Test func aDiskThatIsFull() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        let message = "unable to write to /dev/full: No space left on device"
        let few = try DumpFile(path: "/dev/full")
        // They fit into what the process keeps.
        try dbQueue.dumpTables(["team"], to: few)
        let late = error { try few.close() }
        #expect(late?.extendedResultCode == .SQLITE_IOERR_WRITE)
        #expect(late?.message == message)
        let many = try DumpFile(path: "/dev/full")
        let early = error {
            try dbQueue.dumpSQL(
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(zeroblob(1000)) FROM n", to: many)
        }
        #expect(early?.extendedResultCode == .SQLITE_IOERR_WRITE)
        #expect(early?.message == message)
        #expect((many.writeError as? DatabaseError)?.message == message)
        try dbQueue.write { try $0.execute(sql: "DELETE FROM award") }
    }

    @Test func files() throws {
        let folder = try TemporaryFolder()
        let dbQueue = try DatabaseQueue.withPlayers()
        let file = try DumpFile(path: folder.file("team.csv"))
        try dbQueue.dumpTables(["team"], format: .csv(), to: file)
        try file.close()
        try file.close()
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: folder.file("team.csv")))
                == Data("id,name\r\n1,Reds\r\n2,Blues\r\n3,None\r\n".utf8))
        let closed = error { try dbQueue.dumpTables(["team"], to: file) }
        #expect(closed?.resultCode == .SQLITE_MISUSE)
        #expect(closed?.message == "\(folder.file("team.csv")) is closed")
        let missing = error { _ = try DumpFile(path: folder.file("none/team.csv")) }
        #expect(missing?.resultCode == .SQLITE_CANTOPEN)
        #expect(missing?.message == "unable to create \(folder.file("none/team.csv")): No such file or directory")
        // A dump would truncate the database, and end SQLite's locks.
        let open = folder.file("open.sqlite")
        let queue = try DatabaseQueue(path: open)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        for path in [open, open + "-journal"] {
            let message = "unable to create \(path): it is a file of \(open), which this process has open"
            #expect(error { _ = try DumpFile(path: path) }?.message == message)
        }
        #expect(try queue.read { db in try db.tableExists("t") })
        // A file that isn't closed has the text, too.
        do {
            let left = try DumpFile(path: folder.file("left"))
            try dbQueue.dumpTables(["team"], to: left)
        }
        #expect(try String(contentsOfFile: folder.file("left"), encoding: .utf8) == "1|Reds\n2|Blues\n3|None\n")
    }

    @Test func theStandardOutput() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let dbQueue = try DatabaseQueue.withPlayers()
            print("before")
            try await dbQueue.dumpTables(["team"], format: .debug(header: true))
            print("after")
            try dbQueue.unsafeReentrantRead { db in try db.dumpSQL("SELECT 1") }
        }
        let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(text.contains("before\nid|name\n1|Reds\n2|Blues\n3|None\nafter\n1\n"))
    }
}
