import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The permissions of the files that databases create.
@Suite struct FilePermissionsTests {
    /// The permissions of the files of a folder, by their names.
    private static func permissions(_ folder: TemporaryFolder) throws -> [String: String] {
        var result: [String: String] = [:]
        let path = (folder.file("x") as NSString).deletingLastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            result[name] = String((attributes[.posixPermissions] as? Int) ?? -1, radix: 8)
        }
        return result
    }

    /// The umask belongs to the process.
    @Test(arguments: [0o600, 0o640, 0o666], [0o000, 0o022, 0o077]) func filesOfADatabase(
        _ permissions: Int, _ mask: Int
    ) async {
        await #expect(processExitsWith: .success) { [permissions = permissions as Int, mask = mask as Int] in
            try FilePermissionsTests.checkFiles(permissions, mask)
        }
    }

    private static func checkFiles(_ permissions: Int, _ mask: Int) throws {
        umask(mode_t(mask))
        let expected = String(permissions, radix: 8)
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.filePermissions = UInt16(permissions)
        let pool = try DatabasePool(path: folder.file("pool.sqlite"), configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let queue = try DatabaseQueue(path: folder.file("queue.sqlite"), configuration: configuration)
        let uri = try DatabaseQueue(path: "file:\(folder.file("u.sqlite"))?mode=rwc", configuration: configuration)
        try uri.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try queue.writeWithoutTransaction { db in
            try db.attach(folder.file("attached.sqlite"), as: "attached")
            try db.execute(sql: "CREATE TABLE attached.t (a)")
            try db.inTransaction {
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(try Self.permissions(folder)["queue.sqlite-journal"] == expected)
                return .commit
            }
        }
        try queue.vacuum(into: folder.file("copy.sqlite"))
        let files = try Self.permissions(folder)
        #expect(
            files.keys.sorted() == [
                "attached.sqlite", "copy.sqlite", "pool.sqlite", "pool.sqlite-shm", "pool.sqlite-wal", "queue.sqlite",
                "u.sqlite",
            ])
        #expect(files.values.allSatisfy { $0 == expected })
        // A log that is made later has them, too.
        try pool.close()
        let other = try DatabasePool(path: folder.file("pool.sqlite"))
        try other.write { db in try db.execute(sql: "DROP TABLE t") }
        #expect(try Self.permissions(folder).values.allSatisfy { $0 == expected })
    }

    @Test func existingFilesStay() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        do { try DatabaseQueue(path: path).makeTable(1) }
        try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path)
        var configuration = Configuration()
        configuration.filePermissions = 0o600
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { db in try db.values() } == [1])
        #expect(try Self.permissions(folder) == ["a.sqlite": "660"])
    }

    /// Opening a file that another connection has locked doesn't release that lock.
    @Test func locksStay() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        configuration.filePermissions = 0o600
        configuration.busyMode = .immediateError
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.makeTable(1)
        try queue.inTransaction(.immediate) { db in
            let other = try DatabaseQueue(path: path, configuration: configuration)
            expectError(.SQLITE_BUSY) { try other.write { db in try db.insert(2) } }
            try db.insert(3)
            return .commit
        }
        #expect(try queue.read { db in try db.values() } == [1, 3])
    }

    @Test func databasesWithoutAFile() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.filePermissions = 0o600
        for queue in [
            try DatabaseQueue(configuration: configuration),
            try DatabaseQueue(named: "FilePermissionsTests", configuration: configuration),
            try DatabaseQueue(path: "", configuration: configuration),
            try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=memory", configuration: configuration),
        ] { try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") } }
        expectError(.SQLITE_CANTOPEN) {
            try DatabaseQueue(path: "file:\(folder.file("a.sqlite"))?mode=rw", configuration: configuration)
        }
        configuration.readonly = true
        expectError(.SQLITE_CANTOPEN) {
            try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        }
        #expect(try Self.permissions(folder) == [:])
    }

    @Test func filesThatCannotBeCreated() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.filePermissions = 0o600
        let missing = folder.file("missing/a.sqlite")
        let error = expectError(.SQLITE_CANTOPEN) { try DatabaseQueue(path: missing, configuration: configuration) }
        #expect(
            error?.description == """
                SQLite error 14: unable to open database file: No such file or directory - while opening \(missing)
                """)
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file("target.sqlite"))
        let ofLink = expectError(.SQLITE_CANTOPEN) { try DatabaseQueue(path: link, configuration: configuration) }
        #expect(ofLink?.description.contains("it is a link to a file that doesn't exist") ?? false)
        do { try DatabaseQueue(path: folder.file("target.sqlite"), configuration: configuration).makeTable(1) }
        #expect(try DatabaseQueue(path: link, configuration: configuration).read { db in try db.values() } == [1])
        #expect(try Self.permissions(folder)["target.sqlite"] == "600")
    }

    @Test(arguments: [0o400, 0o060, 0o1600, 0o4777] as [UInt16]) func wrongPermissions(_ permissions: UInt16) throws {
        var configuration = Configuration()
        configuration.filePermissions = permissions
        expectError(
            .SQLITE_MISUSE,
            """
            Configuration.filePermissions must be from 0o600 to 0o777 and let the owner read and write, not \
            0o\(String(permissions, radix: 8))
            """
        ) { try DatabaseQueue(configuration: configuration) }
    }

    @Test func otherFileSystems() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.filePermissions = 0o600
        let disk = try StallVFS()
        configuration.vfs = disk.name
        expectError(.SQLITE_MISUSE, "Configuration.filePermissions isn't possible with the VFS \(disk.name)") {
            try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        }
        configuration.vfs = "unix-excl"
        try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration).makeTable(1)
        #expect(try Self.permissions(folder) == ["a.sqlite": "600"])
    }
}
