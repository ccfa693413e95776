import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@Suite struct DatabaseFilesTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func pathsAndSizes() throws {
        var configuration = Configuration()
        configuration.label = "players"
        let path = folder.file("a.sqlite")
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(10000))") }
        #expect(pool.label == "players")
        #expect(pool.filePaths == [path, path + "-wal", path + "-shm", path + "-journal"])
        let sizes = try pool.fileSizes()
        func size(_ path: String) throws -> Int {
            try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int
        }
        #expect(try sizes.database == size(path) && sizes.writeAheadLog == size(path + "-wal"))
        #expect(try sizes.sharedMemory == size(path + "-shm") && sizes.journal == 0)
        #expect(sizes.writeAheadLog > 10_000)
        #expect(sizes.total == sizes.database + sizes.writeAheadLog + sizes.sharedMemory)
        #expect(try pool.makeSnapshot().fileSizes().writeAheadLog == sizes.writeAheadLog)
        try pool.close()
        #expect(try pool.fileSizes().writeAheadLog == 0 && pool.fileSizes().database > 10_000)
        for file in pool.filePaths { try? FileManager.default.removeItem(atPath: file) }
        #expect(try pool.fileSizes() == DatabaseFileSizes())
    }

    @Test func inMemory() throws {
        for queue in [try DatabaseQueue(), try DatabaseQueue(named: "files of none"), try DatabaseQueue(path: "")] {
            #expect(queue.filePaths == [])
            #expect(try queue.fileSizes() == DatabaseFileSizes())
            #expect(queue.label == nil)
        }
    }

    @Test func uris() throws {
        var configuration = Configuration()
        configuration.acceptsURIs = true
        let path = folder.file("a b.sqlite")
        let uri = "file:" + path.replacing(" ", with: "%20") + "?mode=rwc"
        let queue = try DatabaseQueue(path: uri, configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(queue.filePaths.first == path)
        #expect(try queue.fileSizes().database > 0)
        let memory = try DatabaseQueue(path: "file:x?mode=memory", configuration: configuration)
        #expect(memory.filePaths == [])
    }

    @Test func aPathThatCannotBeAsked() throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        // A file where the folder was: there are no files.
        #expect(try queue.fileSizes().writeAheadLog == 0)
    }
}
