import Foundation
import QuarryTestSupport

extension ChildProcess {
    /// The process has ended by itself, or has reported an error.
    private struct WasNotKilled: Error, CustomStringConvertible {
        let description: String
    }

    /// Kills the process at some moment after it has written some lines.
    ///
    /// - parameter lineCounts: the range of the number of lines that are awaited.
    /// - returns: its lines.
    func killAtRandom(
        afterLines lineCounts: ClosedRange<Int>, _ generator: inout SeededGenerator
    ) throws -> [String] {
        let lineCount = Int.random(in: lineCounts, using: &generator)
        let turns = Int.random(in: 0..<(lineCount == 0 ? 20_000_000 : 3_000_000), using: &generator)
        var lines: [String] = []
        for _ in 0..<lineCount {
            guard let line = try readLine() else { break }
            lines.append(line)
        }
        var turn = 0
        while turn < turns { turn += 1 }
        kill()
        let exit = try wait()
        guard exit.status == .signal(SIGKILL), exit.errors == "" else { throw WasNotKilled(description: "\(exit)") }
        return lines + exit.lines
    }
}
