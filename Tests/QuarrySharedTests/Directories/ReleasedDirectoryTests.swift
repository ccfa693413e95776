import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite("Directories that are released while they are used")
struct ReleasedDirectoryTests {
    /// The program releases a directory and its databases while accesses run and wait. Each access is served, and in
    /// the end no file is open. A connection that is opened after the end of its pool has no keeper of its log.
    @Test(arguments: [UInt64.random(in: .min ... .max), 9])
    func accessesOfReleasedDatabases(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let folder = try TemporaryFolder(isFast: true)
            let answers = Recorded<[String]>([])
            var kept: [SharedDatabase] = []
            do {
                let directory = try DatabaseDirectory(
                    path: folder.path, maximumOpenCount: Int.random(in: 1...2, using: &generator),
                    migrator: DatabaseDirectoryTests.migrator, maximumThreadCount: 2)
                for number in 0..<12 {
                    let database = try directory.database(named: "\(number % 6)")
                    if number == 0 { kept.append(database) }
                    Self.begin(Int.random(in: 0..<5, using: &generator), in: database, answers)
                    if Bool.random(using: &generator) { await Task.yield() }
                }
            }
            try await until("each access is served (seed \(seed))") { answers.value.count == 12 }
            let errors = answers.value.filter { !$0.isEmpty }
            #expect(errors == [], "seed \(seed)")
            kept = []
            try await until("all files are closed (seed \(seed))") { try folder.openFiles == [] }
        }
    }

    /// Begins an access, which adds its error or an empty text to the answers.
    private static func begin(_ kind: Int, in database: SharedDatabase, _ answers: Recorded<[String]>) {
        let insert: @Sendable (Database) throws -> Void = { db in
            try db.execute(sql: "INSERT INTO t VALUES (NULL)")
        }
        let answer: @Sendable (Result<Void, any Error>) -> Void = { result in
            var text = ""
            if case .failure(let error) = result { text = "\(kind): \(error)" }
            answers.update { [text] in $0.append(text) }
        }
        switch kind {
        case 0: database.asyncRead { result in answer(result.map { _ in }) }
        case 1: database.asyncWriteWithoutTransaction { db in answer(Result { try insert(db) }) }
        case 2: database.asyncWrite(insert) { _, result in answer(result) }
        case 3: database.asyncBarrierWriteWithoutTransaction { result in answer(result.map { _ in }) }
        default:
            Task {
                do {
                    try await database.write(insert)
                    answer(.success(()))
                } catch {
                    answer(.failure(error))
                }
            }
        }
    }
}
