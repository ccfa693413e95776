import BenchSupport
import CWorkloads
import Foundation
import QuarryWorkloads

/// Counts what Quarry allocates in each row and compares with the thresholds that are checked in. No time is measured,
/// so that a busy machine gives the same result.
@main
enum QuarryAllocations {
    /// Small, so that all rows take seconds; large enough that what a pass itself allocates vanishes in its operations.
    private static let scale = 0.1

    /// How long a row is counted again in which clients meet.
    private static let patience = Duration.seconds(60)

    static func main() {
        do {
            try check(prefixes: CommandLine.arguments.dropFirst())
        } catch {
            report("error: \(error)")
            exit(2)
        }
    }

    /// - parameter prefixes: the rows to check; none for all.
    private static func check(prefixes: ArraySlice<String>) throws {
        guard MallocCount.isAvailable else {
            report("allocations can't be counted on this platform: nothing was checked")
            return
        }
        let rows = BenchRow.all.filter { row in
            row.task != .threadHop && (prefixes.isEmpty || prefixes.contains { row.matches($0) })
        }
        guard !rows.isEmpty else { throw Usage(prefixes: prefixes) }
        let fixtures = try Fixtures(scale: scale, build: buildTables)
        defer { fixtures.remove() }
        let harness = Harness(
            peers: [CPeer(), QuarryPeer()], fixtures: fixtures,
            options: Harness.Options(rounds: 1, scale: scale, sampleMilliseconds: 0))

        var violations: [String] = []
        var savings: [String] = []
        print("row    C        Quarry   at most (blocks an operation)")
        for row in rows {
            var count = try AllocationCount(of: row, harness)
            print(count.line)
            // Chance decides how many clients wait, or fetches run; a change that allocates more does so each time.
            // Now and then a line of tasks doesn't end for seconds, for C's actor neither: so for a while it is tried
            // again.
            let start = ContinuousClock.now
            while count.isChance, !count.violations.isEmpty, start.duration(to: .now) < patience {
                Thread.sleep(forTimeInterval: 1)
                count = try AllocationCount(of: row, harness)
                print(count.line)
            }
            violations += count.violations
            savings += count.savings
        }
        let known = Set(BenchRow.all.map(\.id))
        violations += AllocationThreshold.all.keys.filter { !known.contains($0) }.sorted().map {
            "row \($0) has a threshold but doesn't exist"
        }
        for saving in savings { report(saving) }
        guard violations.isEmpty else {
            for violation in violations { report(violation) }
            fixtures.remove()
            exit(1)
        }
        report("\(rows.count) rows are within their thresholds")
    }

    private struct Usage: Error, CustomStringConvertible {
        let prefixes: ArraySlice<String>
        var description: String { "no row starts with \(prefixes.joined(separator: ", "))" }
    }

    private static func report(_ line: String) {
        fflush(nil)
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}

/// A row's allocations and what they may be.
private struct AllocationCount {
    private let result: RowResult
    private let threshold: AllocationThreshold?

    /// Counts Quarry's allocations in a few passes, up to the first that is within the threshold; C's in one.
    init(of row: BenchRow, _ harness: Harness) throws {
        threshold = AllocationThreshold.all[row.id]
        result = try harness.runUntimed(row, enough: [.quarry: threshold?.blocks ?? 0])
    }

    /// Whether chance decides how much a pass allocates.
    var isChance: Bool { result.row.clients > 1 || threshold?.isChance ?? false }

    var line: String {
        let counts = [result.mallocs[.c], result.mallocs[.quarry], threshold?.blocks].map { count in
            count.map { String(format: "%-9.3f", $0) } ?? "-        "
        }
        let bytes = result.bytesKept[.quarry].map { bytes in
            String(format: "  bytes kept: %.1f, at most ", bytes)
                + (threshold?.bytesKept.map { String(format: "%.1f", $0) } ?? "-")
        }
        let id = result.row.id.padding(toLength: 7, withPad: " ", startingAt: 0)
        return id + counts.joined() + result.row.title + (bytes ?? "")
    }

    var violations: [String] {
        let id = result.row.id
        guard let threshold else { return ["row \(id) has no threshold"] }
        var violations: [String] = []
        if let mallocs = result.mallocs[.quarry], mallocs > threshold.blocks {
            violations.append(
                String(
                    format:
                        "row \(id) allocates %.3f blocks an operation, at most %.3f are allowed: \(result.row.title)",
                    mallocs, threshold.blocks))
        }
        if let bytes = result.bytesKept[.quarry], let allowed = threshold.bytesKept, bytes > allowed {
            violations.append(
                String(
                    format: "row \(id) keeps %.1f bytes an operation, at most %.1f are allowed: \(result.row.title)",
                    bytes, allowed))
        }
        return violations
    }

    /// A threshold that is met with room for a whole block wouldn't find one more. Where clients meet, that is chance.
    var savings: [String] {
        guard let blocks = result.mallocs[.quarry], let threshold, blocks < threshold.blocks - 0.9,
            !isChance
        else { return [] }
        return [String(format: "row \(result.row.id) allocates %.3f blocks an operation: lower its threshold", blocks)]
    }
}
