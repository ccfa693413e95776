import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

/// The code of the article "Damaged files".
@Suite struct DamagedFilesSamples {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private let log = { @Sendable (_: String) in }
    private let print = { @Sendable (_: Any...) in }

    private func database() throws -> String {
        let path = folder.file("players.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.makePlayers("Arthur") }
        try queue.close()
        return path
    }

    @Test func checksAndPolicies() async throws {
        let log = log
        let backups = BackupFolder(path: folder.path, name: "players")
        var config = Configuration()
        config.onCorruption { event in
            switch event {
            case .confirmed(let report): log("\(report.path), \(report.sql ?? ""): \(report.integrity)")
            case .falseAlarm(let error): log("not damaged: \(error)")
            default: log("\(event)")
            }
        }
        config.corruptionPolicy = .readOnly  // writes throw SQLITE_CORRUPT, "players is damaged, …"
        config.corruptionPolicy = .handle { report in
            if report.integrity.problems.allSatisfy({ $0.kind == .index }) { return .none }
            guard let newest = try? await backups.newestGood() else { return .quarantine }  // a BackupFolder
            return .restore(fromPath: newest.path)
        }
        let dbPool = try DatabasePool(path: database(), configuration: config)
        let report = try await dbPool.checkIntegrity(.quick)
        if report.isDamaged {
            for problem in report.problems { print(problem.table ?? "?", problem.page ?? 0, problem) }
        }
        #expect(report.isIntact)
    }

    @Test func salvage() async throws {
        let (damaged, path) = (try database(), folder.file("new.sqlite"))
        let print = print
        let report = try await DatabaseSalvage(path: damaged).salvage(into: path) { progress in
            print("\(progress.phase): \(progress.savedRowCount) rows")
        }
        print(report)
        #expect(report.isComplete && report.savedRowCount == 1)
    }
}
