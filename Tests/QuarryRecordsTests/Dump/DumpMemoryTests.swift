import Foundation
import Quarry
import Testing

@Suite struct DumpMemoryTests {
    /// In a process of its own: other tests allocate.
    @Test func manyRowsNeedTheMemoryOfOne() async {
        await #expect(processExitsWith: .success) {
            try Gauge.check(300_000, .list())
            try Gauge.check(20_000, .json())
            try Gauge.check(20_000, .quote())
            try Gauge.check(20_000, .csv())
            try Gauge.check(20_000, .line())
            try Gauge.check(20_000, .markdown(alignedRows: 100))
        }
    }
}

/// Measures the process once in a while, and keeps nothing.
private final class Gauge: TextOutputStream {
    private var count = 0
    private var first = 0
    private var most = 0

    func write(_ string: String) {
        count += 1
        guard count % 10_000 == 0 else { return }
        // The pages in memory: https://man7.org/linux/man-pages/man5/proc_pid_statm.5.html
        let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        if first == 0 { first = pages }
        most = max(most, pages)
    }

    /// It keeps what is freed, for a while.
    private static let isUnderAddressSanitizer = dlsym(nil, "__asan_init") != nil

    /// Ends the process if rows are kept: 20,000 take more than 1,000 pages.
    static func check(_ rowCount: Int, _ format: some DumpFormat) throws {
        let gauge = Gauge()
        try DatabaseQueue().dumpSQL(
            """
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
            SELECT i, 'Player ' || i AS name, x'ff00' AS picture FROM n
            """, format: format, to: gauge)
        precondition(gauge.count >= rowCount - 200, "\(gauge.count) texts for \(rowCount) rows")
        precondition(gauge.first > 0, "no measure")
        if isUnderAddressSanitizer { return }
        precondition(gauge.most - gauge.first < 300, "\(gauge.most - gauge.first) pages more")
    }
}
