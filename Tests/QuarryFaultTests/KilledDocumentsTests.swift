import Foundation
import QuarryTestSupport
import Testing

/// A process that changes documents is killed: each step it has reported is kept, none is half there, and the
/// documents, the index and the full-text index agree. The check is `checkDocuments` of the process.
@Suite("Killed documents", .timeLimit(.minutes(10 * TestTime.factor)), .serialized) struct KilledDocumentsTests {
    static let kills = ProcessInfo.processInfo.environment["QUARRY_KILLS"].flatMap { Int($0) } ?? 10

    @Test(arguments: ["queue", "pool"]) func documentsAndIndexesAgree(kind: String) async throws {
        let problems = try await onOwnThread(within: 500) {
            var generator = SeededGenerator()
            let seed = generator.seed
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file("db")
            var problems: [String] = []
            var last = 0
            for round in 1...Self.kills {
                let child = try ChildProcess(["change-documents", path, kind])
                let lines = try child.killAtRandom(afterLines: 0...120, &generator)
                let acknowledged = max(last, lines.compactMap { Int($0) }.last ?? 0)
                let check = try ChildProcess(["check-documents", path, kind]).wait()
                guard check.status == .code(0), let found = check.lines.first.flatMap({ Int($0) }) else {
                    problems.append("seed \(seed), \(round): \(check)")
                    break
                }
                if !(acknowledged...acknowledged + 1).contains(found) {
                    problems.append("seed \(seed), \(round): step \(acknowledged) was reported, and \(found) is kept")
                }
                last = found
            }
            if last < 50 { problems.append("seed \(seed): only \(last) steps") }
            return problems
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
