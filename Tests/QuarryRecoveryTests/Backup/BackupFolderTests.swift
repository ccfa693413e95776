import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

@Suite struct BackupFolderTests {
    let files: TemporaryFolder
    let folder: BackupFolder
    let queue: DatabaseQueue
    let time = Recorded(1_795_508_000_345)

    init() throws {
        files = try TemporaryFolder()
        var folder = BackupFolder(path: files.path, name: "players")
        folder.now = { [time] in time.value }
        self.folder = folder
        queue = try DatabaseQueue()
        try queue.makePages(3)
    }

    private func make(_ count: Int, apartBy milliseconds: Int) throws -> [StoredBackup] {
        try (0..<count).map { _ in
            time.update { $0 += milliseconds }
            return try folder.makeBackup(of: queue)
        }
    }

    private func damage(_ backup: StoredBackup) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: backup.path))
        try file.seek(toOffset: 4096)
        file.write(Data(repeating: 0x55, count: 4096))
        try file.close()
    }

    @Test func namesAreTimes() throws {
        let name = "players-2026-11-24T083112.345Z.sqlite"
        let milliseconds =
            Int(ISO8601DateFormatter().date(from: "2026-11-24T08:31:12Z")!.timeIntervalSince1970) * 1000 + 345
        #expect(folder.name(at: milliseconds) == name)
        #expect(folder.time(ofName: name) == milliseconds)
        for other in [
            "players-2026-11-24T083112.345Z", "player-2026-11-24T083112.345Z.sqlite",
            "players-2026-02-30T083112.345Z.sqlite", "players-2026-11-24T243112.345Z.sqlite",
            "players-2026-11-24T086012.345Z.sqlite", "players-2026-11-24T083112.34xZ.sqlite",
            "players-2026-11-24T083112.345Z.sqlite-wal", "players-.sqlite", "players-Z.sqlite", "",
            "players--026-11-24T083112.345Z.sqlite", ".\(name).0123456789abcdef.partial",
        ] {
            #expect(folder.time(ofName: other) == nil, "\(other)")
        }
        var generator = SeededGenerator()
        for _ in 0..<1000 {
            let time = Int.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
            #expect(folder.time(ofName: folder.name(at: time)) == time, "seed \(generator.seed)")
        }
    }

    @Test func listsTheNewestFirst() async throws {
        let made = try make(3, apartBy: 1000)
        try Data().write(to: URL(fileURLWithPath: files.file("players.txt")))
        try FileManager.default.createDirectory(
            atPath: files.file(folder.name(at: 5)), withIntermediateDirectories: false)
        let other = BackupFolder(path: files.path, name: "players-2")
        try await other.makeBackup(of: queue)
        #expect(try folder.backups() == made.reversed())
        #expect(made.allSatisfy { $0.byteCount == 5 * 4096 })
        #expect(made[0].date.timeIntervalSince1970 == 1_795_508_001.345)
        #expect(try other.backups().count == 1)
        #expect(try contents(ofFile: made[2].path) == contents(of: queue))
        // In the same millisecond, and a clock that was set back.
        let same = try make(2, apartBy: 0)
        #expect(same[0].name == folder.name(at: time.value + 1) && same[1].name == folder.name(at: time.value + 2))
    }

    @Test func newestGoodSkipsTheDamaged() async throws {
        #expect(try await folder.newestGood() == nil)
        let made = try make(4, apartBy: 1000)
        #expect(try await folder.newestGood() == made[3])
        try damage(made[3])
        try Data().write(to: URL(fileURLWithPath: made[2].path))
        #expect(try await folder.newestGood() == made[1])
        #expect(try folder.newestGoodHere() == made[1])
        let pool = try DatabasePool(path: files.file("db"))
        try await pool.restore(from: #require(try folder.newestGoodHere()).path)
        #expect(try contents(of: pool) == contents(of: queue))
        try damage(made[1])
        try damage(made[0])
        #expect(try await folder.newestGood() == nil)
        let before = try files.names
        #expect(try await folder.newestGood(check: .none) != nil, "unchecked")
        #expect(try files.names == before, "opening them makes no file")
    }

    @Test func retentionAsValue() {
        let times = [1000, 900, 500, 100]
        #expect(BackupRetention().expired(times, now: 1000) == [])
        #expect(BackupRetention(count: 2).expired(times, now: 1000) == [2, 3])
        #expect(BackupRetention(count: 0).expired(times, now: 1000) == [0, 1, 2, 3])
        #expect(BackupRetention(age: .milliseconds(500)).expired(times, now: 1000) == [2, 3])
        #expect(BackupRetention(count: 1, age: .milliseconds(500)).expired(times, now: 1000) == [1, 2, 3])
        #expect(BackupRetention(age: .milliseconds(500)).expired(times, now: 0) == [], "made in the future")
    }

    @Test func prunesByCountAndAge() async throws {
        let made = try make(6, apartBy: 1000)
        #expect(try await folder.prune(keeping: BackupRetention()) == [])
        #expect(try await folder.prune(keeping: BackupRetention(count: 4)) == [made[1], made[0]])
        #expect(try folder.backups() == made[2...].reversed())
        #expect(try folder.pruneHere(BackupRetention(age: .milliseconds(1500))) == [made[3], made[2]])
        #expect(try folder.backups() == made[4...].reversed())
        // The newest good one is kept, however old it is.
        time.update { $0 += 1_000_000_000 }
        #expect(try folder.pruneHere(BackupRetention(count: 0, age: .zero)) == [made[4]])
        #expect(try folder.backups() == [made[5]])
    }

    @Test func neverRemovesTheLastGood() throws {
        let made = try make(5, apartBy: 1000)
        for index in 2...4 { try damage(made[index]) }
        #expect(try folder.pruneHere(BackupRetention(count: 2)) == [made[2], made[0]])
        #expect(try folder.backups() == [made[4], made[3], made[1]])
        try damage(made[1])
        #expect(try folder.pruneHere(BackupRetention(count: 1)) == [], "none is good: all are kept")
    }

    @Test func failingFiles() throws {
        let missing = BackupFolder(path: files.file("no"), name: "players")
        expectError(
            .SQLITE_CANTOPEN,
            "backups in \(files.file("no")): could not list \(files.file("no")): No such file or directory"
        ) { try missing.backups() }
        expectError(.SQLITE_CANTOPEN) { try missing.makeBackup(of: queue) }
        for name in ["", ".hidden", "a/b", "a\0b"] {
            let wrong = BackupFolder(path: files.path, name: name)
            expectError(.SQLITE_MISUSE, "the name of backups can't be \(String(reflecting: name))") {
                try wrong.makeBackup(of: queue)
            }
            expectError(.SQLITE_MISUSE) { try wrong.backups() }
        }
        let made = try make(3, apartBy: 1000)
        var failing = folder
        failing.files.fault = { kind, _ in kind == .remove ? EACCES : 0 }
        expectError(.SQLITE_IOERR_DELETE) { try failing.prune(keeping: BackupRetention(count: 1)) }
        #expect(try folder.backups() == made.reversed())
    }

    /// Each call of the file system fails, one run for each.
    @Test func eachCallFails() async throws {
        let made = try make(4, apartBy: 1000)
        try damage(made[3])
        let (whole, bytes) = (try contents(of: queue), try files.bytes)
        func failing(_ operations: FileOperations) -> BackupFolder {
            var failing = folder
            failing.files = operations
            return failing
        }
        func check(_ call: FileCalls.Call, _ failure: (any Error)?) throws {
            #expect(try files.openFiles == [])
            guard let failure else { return }
            let message = (failure as? DatabaseError)?.message ?? ""
            #expect(message.hasPrefix("backups in \(files.path): could not "), "\(failure)")
            #expect(message.contains(call.path), "\(failure)")
        }
        let listing = try FileCalls.eachFails(with: EIO) { operations throws in
            #expect(try failing(operations).backups() == made.reversed())
        } check: { call, failure in
            try check(call, failure)
            #expect(failure != nil)
        }
        #expect(listing == 5)
        let looking = try FileCalls.eachFails(with: EIO) { operations throws in
            #expect(try failing(operations).newestGoodHere() == made[2])
        } check: { call, failure in
            try check(call, failure)
            #expect(failure != nil)
        }
        #expect(looking == 5)
        #expect(try files.bytes == bytes)
        let pruning = try FileCalls.eachFails(with: EIO) { operations throws in
            for (name, data) in bytes { try data.write(to: URL(fileURLWithPath: files.file(name))) }
            _ = try failing(operations).pruneHere(BackupRetention(count: 1))
        } check: { call, failure in
            try check(call, failure)
            #expect(failure != nil)
            let names = try files.names
            // The newest good one, the newest, and what could not be removed, the oldest first.
            #expect(Set(names).isSuperset(of: [made[2].name, made[3].name]), "\(call)")
            if names.count == 3 { #expect(names[0] == made[1].name, "\(call)") }
            _ = try folder.pruneHere(BackupRetention(count: 1))
            #expect(try files.names == [made[2].name, made[3].name], "\(call)")
        }
        #expect(pruning == 9)
        let backingUp = try FileCalls.eachFails(with: EIO) { operations throws in
            time.update { $0 += 1000 }
            var options = BackupOptions()
            options.files = operations
            _ = try failing(operations).makeBackup(of: queue, options: options)
        } check: { call, failure in
            #expect(try files.openFiles == [])
            if let failure = failure as? DatabaseError {
                #expect(failure.message?.contains("could not ") == true, "\(call): \(failure)")
            }
            // Whatever was made is whole, and no name of a backup is on anything else.
            for backup in try folder.backups() where backup != made[3] {
                #expect(try contents(ofFile: backup.path) == whole, "\(call)")
            }
        }
        #expect(backingUp > 10)
        // A process that another test starts has all locks of this one for a moment.
        try await until("a backup removes what is left") {
            time.update { $0 += 1000 }
            try folder.makeBackup(of: queue)
            return try !files.names.contains { $0.hasSuffix(".partial") }
        }
    }

    @Test func leftoversOfOtherTimesAreRemoved() throws {
        let leftover = ".\(folder.name(at: 77)).0123456789abcdef.partial"
        let other = ".players2-2026-11-24T083112.345Z.sqlite.0123456789abcdef.partial"
        for name in [leftover, other] { try Data().write(to: URL(fileURLWithPath: files.file(name))) }
        let made = try make(1, apartBy: 1)
        #expect(try files.names == [other, made[0].name])
    }
}

extension BackupFolder {
    fileprivate func newestGoodHere() throws -> StoredBackup? { try newestGood() }
    fileprivate func pruneHere(_ retention: BackupRetention) throws -> [StoredBackup] { try prune(keeping: retention) }
}
