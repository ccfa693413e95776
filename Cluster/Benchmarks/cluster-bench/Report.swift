import ClusterTestSupport
import Foundation

/// The table of the results.
struct Report {
    private let hasPeer: Bool
    private var lines: [[String]] = []

    init(hasPeer: Bool) { self.hasPeer = hasPeer }

    /// - parameter samples: the nanoseconds with Quarry, and with the peer, if there is one.
    /// - parameter trips: the round trips of each.
    mutating func add(_ title: String, _ samples: [[UInt64]], trips: [Int]? = nil) {
        lines.append(
            [title]
                + samples.enumerated().flatMap { index, times in
                    [Self.times(times), trips.map { "\($0[index])" } ?? ""]
                })
        FileHandle.standardError.write(Data("\(lines.last!.joined(separator: "; "))\n".utf8))
    }

    /// 64 writers at once: the time of each write, and the rate of all.
    mutating func addWriters(_ quarry: QuarryClient, _ peer: PeerClient?, rounds: Int) async throws {
        let (writerCount, count) = (64, 10)
        var samples: [[UInt64]] = [[], []]
        var nanoseconds: [UInt64] = [0, 0]
        for _ in 0..<rounds {
            var results = [try await quarry.concurrentTimes(writerCount, count)]
            if let peer { results.append(try peer.run("writers \(writerCount) \(count)")) }
            for (index, result) in results.enumerated() {
                nanoseconds[index] += result[0]
                samples[index] += result.dropFirst()
            }
        }
        if !hasPeer { samples.removeLast() }
        add("a write by each of \(writerCount) concurrent writers", samples)
        let rates = samples.indices.map { Int(Double(samples[$0].count) * 1e9 / Double(nanoseconds[$0])) }
        lines.append(["the same, writes a second"] + rates.flatMap { ["\($0)", ""] })
    }

    /// The longest time between two acknowledged writes of 16 writers, around the death of a leader.
    mutating func addFailover(
        _ quarry: QuarryClient, _ peer: PeerClient?, _ nodes: BenchNodes, kills: Int
    ) async throws {
        var samples: [[UInt64]] = [[], []]
        func fault() throws { try nodes.restart(try nodes.killLeader()) }
        for _ in 0..<kills {
            samples[0].append(try await quarry.longestGap(16, while: fault))
            guard let peer else { continue }
            _ = try peer.run("start 16")
            try fault()
            samples[1] += try peer.run("stop")
        }
        if !hasPeer { samples.removeLast() }
        add("death of the leader, \(kills) for each client: the gap between two writes", samples)
    }

    var text: String {
        let header =
            ["access", "Quarry p50, p99", "round trips"] + (hasPeer ? ["go-dqlite p50, p99", "round trips"] : [])
        let rows = [header, header.map { _ in "---" }] + lines
        return rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    private static func times(_ samples: [UInt64]) -> String {
        let sorted = samples.sorted()
        return "\(text(sorted[sorted.count / 2])), \(text(sorted[sorted.count * 99 / 100]))"
    }

    private static func text(_ nanoseconds: UInt64) -> String {
        switch nanoseconds {
        case ..<1_000_000: "\(nanoseconds / 1_000) us"
        case ..<100_000_000: "\(Double(nanoseconds / 10_000) / 100) ms"
        default: "\(nanoseconds / 1_000_000) ms"
        }
    }
}
