import Foundation
import Subprocess

/// The figures of a load.
struct Figures: Sendable, CustomStringConvertible {
    var requestsPerSecond: Double
    var median: Duration
    var percentile99: Duration
    /// Answers with a status of 400 or more, and requests without an answer.
    var failureCount: Int

    var description: String {
        let failures = failureCount == 0 ? "" : ", \(failureCount) failed"
        return "\(Int(requestsPerSecond)), \(median.short), \(percentile99.short)\(failures)"
    }
}

/// A load of wrk's, on one thread: <https://github.com/wg/wrk>.
struct Wrk {
    let url: String
    /// In Lua: the requests.
    let script: String

    /// GET requests whose path is an expression of Lua.
    static func get(_ path: String) -> String { #"request = function() return wrk.format("GET", \#(path)) end"# }

    private static let report = """

        done = function(summary, latency, requests)
            local e = summary.errors
            io.write(string.format("figures %d %d %d %d %d\\n", summary.requests, summary.duration,
                latency:percentile(50), latency:percentile(99),
                e.status + e.connect + e.read + e.write + e.timeout))
        end
        """

    func run(connections: Int, seconds: Int) async throws -> Figures {
        let file = FileManager.default.temporaryDirectory.path + "/http-load-\(UUID().uuidString).lua"
        try Data((script + Self.report).utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let result = try await Subprocess.run(
            .name("wrk"),
            arguments: ["-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "10s", "-s", file, url],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        let line = result.standardOutput.split(separator: "\n").last { $0.hasPrefix("figures ") }
        let numbers = line?.split(separator: " ").compactMap { Int($0) } ?? []
        guard result.terminationStatus.isSuccess, numbers.count == 5, numbers[1] > 0 else {
            throw Server.Failure(
                description: "wrk failed: \(result.standardOutput)\(result.standardError)")
        }
        return Figures(
            requestsPerSecond: Double(numbers[0]) / (Double(numbers[1]) / 1e6), median: .microseconds(numbers[2]),
            percentile99: .microseconds(numbers[3]), failureCount: numbers[4])
    }
}

extension Duration {
    /// `250 µs`, `3.1 ms`, `2.5 s`.
    var short: String {
        let milliseconds = self / .milliseconds(1)
        if milliseconds < 1 { return "\(Int(milliseconds * 1000)) µs" }
        if milliseconds < 1000 { return String(format: milliseconds < 100 ? "%.1f ms" : "%.0f ms", milliseconds) }
        return String(format: "%.1f s", milliseconds / 1000)
    }
}
