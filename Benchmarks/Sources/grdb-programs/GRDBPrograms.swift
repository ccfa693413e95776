import Foundation

/// Runs the programs of `Tests/QuarryCompatibilityTests` with GRDB, and compares what they print with the texts that
/// Quarry's tests expect.
@main enum GRDBPrograms {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.last, arguments.count == 1 || arguments.first == "--record" else {
            FileHandle.standardError.write(Data("usage: grdb-programs [--record] FOLDER\n".utf8))
            exit(2)
        }
        let folder = URL(fileURLWithPath: path)
        var differences = 0
        for program in programs {
            let file = folder.appendingPathComponent("\(program).txt")
            let text = await output(of: program)
            if arguments.first == "--record" {
                try Data(text.utf8).write(to: file)
            } else if let difference = try firstDifference(text, from: String(contentsOf: file, encoding: .utf8)) {
                Swift.print("\(program): \(difference)")
                differences += 1
            }
        }
        Swift.print("\(programs.count) programs, \(differences) differ")
        exit(differences == 0 ? 0 : 1)
    }
}
