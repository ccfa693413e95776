import Foundation
import Testing

/// Programs that are written from GRDB 7's documentation do with Quarry what they do with GRDB.
///
/// `Expected` has what they print with GRDB: the package of benchmarks builds the same files with it, and writes and
/// checks those texts (`make compatibility`).
@Suite(.serialized) struct ProgramTests {
    private static let expected = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Expected")

    @Test(arguments: programs.indices)
    func printsWhatItPrintsWithGRDB(index: Int) async throws {
        let program = programs[index]
        let expected = try String(contentsOf: Self.expected.appending(path: "\(program).txt"), encoding: .utf8)
        let difference = await firstDifference(output(of: program), from: expected)
        #expect(difference == nil, "\(program)")
    }

    @Test func eachTextIsOfAProgram() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.expected.path)
        #expect(files.sorted() == programs.map { "\($0).txt" }.sorted())
    }
}
