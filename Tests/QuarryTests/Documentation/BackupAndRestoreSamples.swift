import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

/// The code of the article "Backup and restore". Its folder is `/var/backups` there.
@Suite struct BackupAndRestoreSamples {
    let files: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        files = try TemporaryFolder()
        dbPool = try DatabasePool(path: files.file("players.sqlite"))
        try dbPool.write { db in try db.makePlayers("Arthur") }
    }

    /// Compiled, not run: the folder is that of a server.
    private func first() async throws {
        let backup = try await dbPool.backup(toFile: "/var/backups/players.sqlite")
        print("\(backup.byteCount) bytes in \(backup.duration)")
    }

    /// Compiled, not run.
    private func scheduled(_ log: @escaping @Sendable (String) -> Void) async throws {
        let folder = BackupFolder(path: "/var/backups", name: "players")
        var schedule = BackupSchedule(every: .seconds(6 * 3600))
        schedule.jitter = .seconds(300)
        schedule.retention = BackupRetention(count: 28)
        let backups = try ScheduledBackups(of: dbPool, in: folder, schedule: schedule) { event in
            if case .failed(let error, let pause) = event { log("backup: \(error), again in \(pause)") }
        }
        let task = Task { try await backups.run() }
        task.cancel()
    }

    @Test func nightly() throws {
        var nightly = BackupSchedule.daily(at: 3, minute: 30, in: TimeZone(identifier: "Europe/Berlin")!)
        nightly.retention = BackupRetention(count: 14)
        #expect(nightly.interval == .seconds(86_400) && nightly.retention?.count == 14)
    }

    @Test func backingUpAndRestoring() async throws {
        let print = { @Sendable (_: Any) in }
        let path = files.file("copy.sqlite")
        var options = BackupOptions()
        options.bytesPerSecond = 20 << 20  // a pause suspends the task
        options.check = .integrity  // also compares indexes with their tables
        options.compact = true  // VACUUM INTO
        options.replacesExisting = true
        try await dbPool.backup(toFile: path, options: options) { progress in
            print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
        }

        let folder = BackupFolder(path: files.path, name: "players")
        try await folder.makeBackup(of: dbPool)
        try await dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
        if let backup = try await folder.newestGood() {
            try await dbPool.restore(from: backup.path)
        }
        #expect(try await dbPool.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") } == ["Arthur"])

        let rehearsal = try DatabaseQueue()
        try await rehearsal.restore(from: path, check: .integrity)
        let names = try await rehearsal.read { db in try String.fetchAll(db, sql: "SELECT name FROM player") }
        #expect(names == ["Arthur"])
    }
}
