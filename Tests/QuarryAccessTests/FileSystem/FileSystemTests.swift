import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Network file systems, and other processes that have a file open.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct FileSystemTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func localFileSystemHasNoNetworkName() throws {
        #expect(folder.path.withCString { FileSystem.networkName(ofFile: $0) } == nil)
        #expect(folder.file("missing").withCString { FileSystem.networkName(ofFile: $0) } == nil)
    }

    @Test func walOnANetworkFileSystemIsRefused() throws {
        var configuration = Configuration()
        let path = folder.file("db")
        let check: (Configuration, Bool) throws -> Void = { configuration, willBeWAL in
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { db in
                try FileSystem.check(db, willBeWAL: willBeWAL, networkName: { _ in "NFS" })
            }
        }
        let error = expectError(DatabaseError.self) { try check(configuration, true) }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(
            error?.description == """
                SQLite error 14: a database in WAL mode must not be on a network file system (NFS), unless \
                Configuration.wal.networkFileSystems allows it - while opening \(path)
                """)
        try check(configuration, false)
        // A queue on a file that is in WAL mode already.
        try DatabasePool(path: path).close()
        let queueError = expectError(DatabaseError.self) { try check(configuration, false) }
        #expect(queueError?.resultCode == .SQLITE_CANTOPEN)
        configuration.wal.networkFileSystems = .allowed
        try check(configuration, true)
        try DatabaseQueue().read { db in try FileSystem.check(db, willBeWAL: true, networkName: { _ in "NFS" }) }
    }

    @Test func locksOfOtherProcesses() {
        let locks = """
            1: POSIX  ADVISORY  READ 77 fe:00:5678 128 128
            2: POSIX  ADVISORY  READ 42 fe:00:1234 1073741826 1073742335
            3: POSIX  ADVISORY  READ 42 fe:00:5678 128 128
            3: -> POSIX  ADVISORY  WRITE 43 fe:00:9999 128 128
            4: FLOCK  ADVISORY  WRITE 44 fe:00:9999 128 128
            5: POSIX  ADVISORY  READ -1 fe:00:9999 128 128
            """
        #expect(FileSystem.otherProcess(in: locks, inode: 5678, ownProcess: 77) == 42)
        #expect(FileSystem.otherProcess(in: locks, inode: 5678, ownProcess: 42) == 77)
        #expect(FileSystem.otherProcess(in: locks, inode: 1234, ownProcess: 1) == nil)
        #expect(FileSystem.otherProcess(in: locks, inode: 9999, ownProcess: 1) == nil)
        #expect(FileSystem.otherProcess(in: "", inode: 1, ownProcess: 1) == nil)
    }

    #if os(Linux)
    /// It is, too, of a program that leaves the checkpoints to another one, as with Litestream.
    @Test func otherProcessThatHasTheCheckpointsIsNamed() async throws {
        let log = try LogOfTest { configuration in
            configuration.prepareDatabase { db in
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
            }
        }
        let path = log.folder.file("db")
        let isAffected = LogKeeper.corruptingVersions.contains(Database.sqliteLibVersionNumber)
        let warnings: @Sendable () -> Int = {
            log.events.value.count { if case .otherProcessMayCorrupt = $0 { true } else { false } }
        }
        try await onOwnThread {
            let child = try ChildProcess(["commit", path, "pool", "commit"])
            _ = try child.readLine()
            for _ in 0..<2 where isAffected {
                try log.write()
                try spin(until: "a warning") {
                    _ = log.keeper?.tick()
                    return warnings() > 0
                }
            }
            child.kill()
            _ = try child.wait()
        }
        #expect(warnings() == (isAffected ? 1 : 0))
        #expect(log.checkpoints.isEmpty)
    }

    /// A version of SQLite that can corrupt a file which two processes checkpoint is told of once.
    @Test func otherProcessIsNamed() async throws {
        let log = try LogOfTest()
        try log.write()
        #expect(FileSystem.otherProcess(withDatabase: log.folder.file("db")) == nil)
        _ = try await log.checkpoint(count: 1)
        let path = log.folder.file("db")
        let isAffected = LogKeeper.corruptingVersions.contains(Database.sqliteLibVersionNumber)
        let warnings: @Sendable () -> Int = {
            log.events.value.count { if case .otherProcessMayCorrupt = $0 { true } else { false } }
        }
        try await onOwnThread {
            let child = try ChildProcess(["commit", path, "pool", "commit"])
            _ = try child.readLine()
            #expect(FileSystem.otherProcess(withDatabase: path) == Int(child.id))
            for _ in 0..<2 {
                try log.write()
                let count = log.checkpoints.count
                _ = log.keeper?.tick()
                // The other process may be checkpointing.
                try spin(until: "a checkpoint") {
                    log.keeper?.readerDidEnd()
                    _ = log.keeper?.tick()
                    return log.checkpoints.count > count
                }
            }
            // The look at the locks follows the event of the checkpoint.
            if isAffected { try spin(until: "a warning") { warnings() > 0 } }
            child.kill()
            _ = try child.wait()
        }
        #expect(warnings() == (isAffected ? 1 : 0))
    }
    #endif
}
