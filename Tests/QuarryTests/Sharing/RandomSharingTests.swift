import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry

@Suite("Random uses of shared databases")
struct RandomSharingTests {
    /// 64 tasks use 8 databases through 3 names each. Each row that was written is in its file, or in one that it was
    /// moved to, once.
    /// Nothing is lost, and nothing stays open.
    @Test(arguments: [UInt64.random(in: .min ... .max), 22])
    func everything(seed: UInt64) async throws {
        let folder = try TemporaryFolder(isFast: true)
        try FileManager.default.createDirectory(atPath: folder.file("moved"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.path)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a UNIQUE)") }
        }
        let written = Recorded(Set<String>())
        let prepared = configuration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(task))
                    for step in 0..<12 {
                        let number = Int.random(in: 0..<8, using: &generator)
                        let alias = ["", "link/", "moved/../"][Int.random(in: 0..<3, using: &generator)]
                        let database = SharedDatabase(
                            path: folder.file("\(alias)\(number).sqlite"), configuration: prepared)
                        let row = "\(task)-\(step)"
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0: try await database.closeAsync()
                        case 1:
                            try await database.withClosedDatabase { files in
                                if try files.sizes().database > 0 {
                                    try files.move(to: folder.file("moved/\(number)-\(row).sqlite"))
                                }
                            }
                        case 2: await database.releaseMemoryAsync()
                        case 3:
                            // A copy takes the place of the database it was made of.
                            try await database.withClosedDatabase { files in
                                guard try files.sizes().database > 0 else { return }
                                let copy = folder.file("copy-\(row)")
                                try files.copy(to: copy)
                                try files.replace(with: copy)
                            }
                        case 4: try await database.open()
                        case 5, 6:
                            _ = try await database.read { db in
                                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
                            }
                        default:
                            try await database.write { db in
                                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row])
                            }
                            written.update { _ = $0.insert(row) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await until("all files are closed (seed \(seed))") { try folder.openFiles.isEmpty }
        var found: [String] = []
        for directory in [folder.path, folder.file("moved")] {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.hasSuffix(".sqlite") {
                found += try await DatabaseQueue(path: directory + "/" + name).read { db in
                    try String.fetchAll(db, sql: "SELECT a FROM t")
                }
            }
        }
        #expect(found.sorted() == written.value.sorted(), "seed \(seed)")
        for number in 0..<8 {
            try await until("no pool is registered (seed \(seed))") {
                !SharedFiles.all.isShared(folder.file("\(number).sqlite"))
            }
        }
    }
}
