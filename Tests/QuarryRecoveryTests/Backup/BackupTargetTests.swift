import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

/// The paths that backups can have, and the files that they leave or don't leave.
@Suite struct BackupTargetTests {
    let folder: TemporaryFolder
    let pool: DatabasePool
    var path: String { folder.file("copy") }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("db"), withIntermediateDirectories: false)
        pool = try DatabasePool(path: folder.file("db/db"))
        try pool.makePages(5)
    }

    private func expectRefusal(
        _ path: String, _ reason: String, _ options: BackupOptions = BackupOptions(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = try folder.names
        expectError(
            .SQLITE_CANTOPEN, "backup of \(pool.path) to \(path): \(reason)", sourceLocation: sourceLocation
        ) { try pool.backup(toFile: path, options: options) }
        #expect(try folder.names == names, sourceLocation: sourceLocation)
    }

    @Test func pathsThatAreNone() throws {
        try expectRefusal("", "the path is empty")
        try expectRefusal(path + "\0more", "the path has a NUL character: \(String(reflecting: path + "\0more"))")
        try expectRefusal(folder.path, "\(folder.path) is a folder")
        try expectRefusal(folder.path + "/", "\(folder.path)/ is a folder")
        try expectRefusal(path + "/", "the folder \(path) does not exist")
        try expectRefusal(folder.file("no/copy"), "the folder \(folder.file("no")) does not exist")
        try Data().write(to: URL(fileURLWithPath: folder.file("file")))
        try expectRefusal(
            folder.file("file/copy"), "could not look at \(folder.file("file/copy")): Not a directory")
        mkfifo(folder.file("pipe"), 0o600)
        try expectRefusal(folder.file("pipe"), "\(folder.file("pipe")) is a pipe")
        let long = folder.file(String(repeating: "x", count: 250))
        let error = expectError(.SQLITE_CANTOPEN) { try pool.backup(toFile: long) }
        #expect(error?.message?.hasSuffix(": File name too long") == true)
    }

    @Test func fileThatExists() throws {
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        try expectRefusal(path, "the file exists, and BackupOptions.replacesExisting is false")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        var options = BackupOptions()
        options.replacesExisting = true
        try pool.backup(toFile: path, options: options)
        #expect(try contents(ofFile: path).last == "ok")
    }

    /// The file appears while the backup runs.
    @Test(arguments: [false, true]) func fileThatAppears(hasLinks: Bool) throws {
        var options = BackupOptions()
        options.pagesPerStep = 2
        if !hasLinks { options.files.fault = { kind, _ in kind == .link ? EPERM : 0 } }
        expectError(
            .SQLITE_CANTOPEN,
            "backup of \(pool.path) to \(path): the file exists, and BackupOptions.replacesExisting is false"
        ) {
            try pool.backup(toFile: path, options: options) { _ in
                try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        #expect(try folder.names == ["copy", "db"])
    }

    @Test func fileSystemWithoutLinks() throws {
        var options = BackupOptions()
        options.files.fault = { kind, _ in kind == .link ? EPERM : kind == .lock ? ENOLCK : 0 }
        try pool.backup(toFile: path, options: options)
        #expect(try folder.names == ["copy", "db"])
        #expect(try contents(ofFile: path).last == "ok")
    }

    @Test func fileThatIsInUse() throws {
        var options = BackupOptions()
        options.replacesExisting = true
        for alias in ["db/db", "link", "hard"] {
            if alias == "link" {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.file(alias), withDestinationPath: folder.file("db/db"))
            } else if alias == "hard" {
                try FileManager.default.linkItem(atPath: folder.file("db/db"), toPath: folder.file(alias))
            }
            try expectRefusal(folder.file(alias), "it is the file of the database itself", options)
        }
        let other = try DatabasePool(path: path)
        try other.makePages(1)
        try expectRefusal(path, "the file is in use, or was: it has a journal beside it, \(path)-wal", options)
        try other.close()
        try pool.backup(toFile: path, options: options)
        // A journal without its database would be applied to the new file.
        try Data([1]).write(to: URL(fileURLWithPath: folder.file("new-journal")))
        let new = folder.file("new")
        try expectRefusal(new, "the file is in use, or was: it has a journal beside it, \(new)-journal")
    }

    /// A backup there would take the place of all commits that are in the log alone.
    @Test func filesBesideTheDatabase() throws {
        let own = folder.file("db/db")
        var replacing = BackupOptions()
        replacing.replacesExisting = true
        for suffix in ["-wal", "-shm", "-journal"] {
            var paths = [own + suffix, folder.file("db/../db/./db") + suffix]
            if suffix != "-journal" {
                paths += [folder.file("link" + suffix), folder.file("hard" + suffix)]
                try FileManager.default.createSymbolicLink(atPath: paths[2], withDestinationPath: own + suffix)
                try FileManager.default.linkItem(atPath: own + suffix, toPath: paths[3])
            }
            for path in paths {
                for options in [BackupOptions(), replacing] {
                    try expectRefusal(path, "it is a file of the database itself: \(own)\(suffix)", options)
                }
            }
        }
        try pool.insertPage()
        try pool.backup(toFile: path)
        #expect(try contents(ofFile: path) == contents(of: pool))
    }

    /// A queue without a log has nothing beside its file.
    @Test func fileOfAnOpenDatabase() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.makePages(1)
        let hard = folder.file("hard")
        try FileManager.default.linkItem(atPath: path, toPath: hard)
        var options = BackupOptions()
        options.replacesExisting = true
        let reason = "it is a file of \(path), which this process has open: close that first"
        for target in [path, hard, path + "-journal"] { try expectRefusal(target, reason, options) }
        expectError(.SQLITE_CANTOPEN, "vacuum of \(pool.path) into \(path)-journal: \(reason)") {
            try pool.vacuum(into: path + "-journal")
        }
        try queue.insertPage()
        try queue.close()
        try pool.backup(toFile: path, options: options)
        #expect(try contents(ofFile: path) == contents(of: pool))
    }

    @Test func vacuumIntoAFileInUse() throws {
        let own = folder.file("db/db")
        let queue = try DatabaseQueue(path: path)
        try queue.makePages(1)
        let cases: [(any DatabaseWriter, String, String)] = [
            (pool, own + "-journal", "it is a file of the database itself: \(own)-journal"),
            (queue, path + "-wal", "it is a file of the database itself: \(path)-wal"),
            (queue, folder.file("db/../copy-shm"), "it is a file of the database itself: \(path)-shm"),
        ]
        for (source, target, reason) in cases {
            expectError(.SQLITE_CANTOPEN, "vacuum of \(source.path) into \(target): \(reason)") {
                try source.vacuum(into: target)
            }
        }
        let new = folder.file("new")
        for suffix in ["-wal", "-journal"] {
            try Data([1]).write(to: URL(fileURLWithPath: new + suffix))
            let reason = "the file is in use, or was: it has a journal beside it, \(new)\(suffix)"
            expectError(.SQLITE_CANTOPEN, "vacuum of \(pool.path) into \(new): \(reason)") {
                try pool.vacuum(into: new)
            }
            try FileManager.default.removeItem(atPath: new + suffix)
        }
        try pool.vacuum(into: new)
        #expect(try contents(ofFile: new) == contents(of: pool))
    }

    @Test func linkToAFileStaysALink() throws {
        try pool.backup(toFile: path)
        try FileManager.default.createSymbolicLink(atPath: folder.file("latest"), withDestinationPath: "copy")
        try pool.insertPage()
        var options = BackupOptions()
        options.replacesExisting = true
        let result = try pool.backup(toFile: folder.file("latest"), options: options)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("latest")) == "copy")
        #expect(try contents(ofFile: path) == contents(of: pool))
        #expect(result.path.hasSuffix("/copy"))
        try FileManager.default.createSymbolicLink(atPath: folder.file("dangling"), withDestinationPath: "nothing")
        expectError(.SQLITE_CANTOPEN) { try pool.backup(toFile: folder.file("dangling")) }
        #expect(try folder.names == ["copy", "dangling", "db", "latest"])
    }

    @Test func pathThatLooksLikeAURI() throws {
        let path = folder.file("file:x?mode=memory")
        try pool.backup(toFile: path)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    // MARK: - Leftovers

    @Test func leftoversOfTheSameTargetAreRemoved() throws {
        let leftovers = [
            ".copy.0123456789abcdef.partial", ".copy.0123456789abcdef.partial-journal",
            ".copy.0123456789abcdef.partial-wal", ".copy.0123456789abcdef.partial-shm",
        ]
        let others = [
            ".other.0123456789abcdef.partial", ".copy.0123.partial", "copy.0123456789abcdef.partial", ".copy.partial",
            ".copy.old.0123456789abcdef.partial",
        ]
        for name in leftovers + others { try Data().write(to: URL(fileURLWithPath: folder.file(name))) }
        try pool.backup(toFile: path)
        #expect(try folder.names == (others + ["copy", "db"]).sorted())
    }

    @Test func runningBackupIsNoLeftover() throws {
        var options = BackupOptions()
        options.pagesPerStep = 2
        let partials = Recorded<[[String]]>([])
        expectError(Enough.self) {
            try pool.backup(toFile: path, options: options) { _ in
                partials.update { $0.append((try? folder.names.filter { $0.hasSuffix(".partial") }) ?? []) }
                try pool.backup(toFile: path)
                partials.update { $0.append((try? folder.names.filter { $0.hasSuffix(".partial") }) ?? []) }
                throw Enough()
            }
        }
        #expect(partials.value.count == 2 && partials.value[0].count == 1 && partials.value[0] == partials.value[1])
        #expect(try folder.names == ["copy", "db"])
    }

    struct Enough: Error {}
}
