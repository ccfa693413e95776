/// Runs rows: all peers in one process, in turns, so that drift of the machine meets them alike.
package struct Harness {
    package struct Options: Sendable {
        /// The rounds of a row; up to three times as many where they differ.
        package var rounds: Int
        package var scale: Double
        /// A sample repeats its pass until it has run this long.
        package var sampleNanoseconds: Double

        package init(rounds: Int, scale: Double, sampleMilliseconds: Double) {
            self.rounds = rounds
            self.scale = scale
            self.sampleNanoseconds = sampleMilliseconds * 1e6
        }
    }

    private let peers: [any Peer]
    private let fixtures: Fixtures
    private let options: Options

    package init(peers: [any Peer], fixtures: Fixtures, options: Options) {
        self.peers = peers
        self.fixtures = fixtures
        self.options = options
    }

    package func run(_ row: BenchRow) throws -> RowResult {
        let entrants = try entrants(row)
        let checksums = try warmUp(entrants, row)
        var samples: [PeerName: Samples] = [:]
        var round = 0
        while round < options.rounds || (round < 3 * options.rounds && Self.differ(samples)) {
            for entrant in turns(entrants, round) {
                let nanoseconds = try entrant.sample(
                    atLeast: options.sampleNanoseconds, expecting: checksums[entrant.peer])
                samples[entrant.peer, default: Samples()].append(nanoseconds)
            }
            round += 1
        }
        return RowResult(
            row: row, samples: samples, mallocs: try countMallocs(entrants), bytesKept: try measureBytesKept(entrants))
    }

    /// C and Quarry are next to each other in each round, so that the machine is the same for both, and change places.
    private func turns(_ entrants: [Entrant], _ round: Int) -> [Entrant] {
        guard entrants.count > 1, round % 2 == 1 else { return entrants }
        return [entrants[1], entrants[0]] + entrants[2...]
    }

    /// Whether the rounds say too different things of Quarry for their median to hold. Whether it is within its budget
    /// isn't asked.
    private static func differ(_ samples: [PeerName: Samples]) -> Bool {
        guard let quarry = samples[.quarry], let c = samples[.c] else { return false }
        return quarry.spreadOfRatios(to: c.nanoseconds) > 0.05
    }

    /// Checks that the peers do the same, and counts their allocations; takes no time.
    ///
    /// - parameter enough: for each peer, the count an operation that ends its passes; by default any.
    package func runUntimed(_ row: BenchRow, enough: [PeerName: Double]) throws -> RowResult {
        let entrants = try entrants(row)
        _ = try warmUp(entrants, row)
        let mallocs = try countMallocs(entrants) { peer, count in count <= enough[peer] ?? .infinity }
        return RowResult(row: row, samples: [:], mallocs: mallocs, bytesKept: try measureBytesKept(entrants))
    }

    private func entrants(_ row: BenchRow) throws -> [Entrant] {
        let operations =
            switch row.operations {
            case .times(let count): count.scaled(by: options.scale)
            case .items: fixtures.itemCount
            case .players: fixtures.playerCount
            case .payments: fixtures.paymentCount
            }
        return try peers.compactMap { peer in
            try peer.workload(for: row.task, fixtures: fixtures).map {
                Entrant(peer: peer.name, row: row, operations: operations, workload: $0)
            }
        }
    }

    /// One pass for each peer, which must agree on what they did.
    private func warmUp(_ entrants: [Entrant], _ row: BenchRow) throws -> [PeerName: Int] {
        var checksums: [(peer: PeerName, checksum: Int)] = []
        for entrant in entrants {
            checksums.append((entrant.peer, try entrant.pass().checksum))
        }
        guard Set(checksums.map(\.checksum)).count <= 1 else {
            throw BenchError.checksumsDiffer(row: row.id, checksums: checksums)
        }
        return Dictionary(uniqueKeysWithValues: checksums)
    }

    /// In passes of their own, for counting takes time.
    ///
    /// - parameter isEnough: whether a count ends the passes of its peer.
    private func countMallocs(
        _ entrants: [Entrant], isEnough: (PeerName, Double) -> Bool = { _, _ in false }
    ) throws -> [PeerName: Double] {
        guard MallocCount.isAvailable else { return [:] }
        var mallocs: [PeerName: Double] = [:]
        for entrant in entrants {
            mallocs[entrant.peer] = try entrant.mallocsPerOperation { isEnough(entrant.peer, $0) }
        }
        return mallocs
    }

    private func measureBytesKept(_ entrants: [Entrant]) throws -> [PeerName: Double] {
        guard MallocCount.isAvailable else { return [:] }
        var bytes: [PeerName: Double] = [:]
        for entrant in entrants {
            bytes[entrant.peer] = try entrant.bytesKeptPerOperation()
        }
        return bytes
    }
}

/// A peer at the start of a row.
private struct Entrant {
    let peer: PeerName
    let row: BenchRow
    let operations: Int
    let workload: Workload

    func pass() throws -> Pass {
        try workload.runPass(operations: operations, clients: row.clients)
    }

    /// Nanoseconds an operation, over as many passes as fill the time.
    func sample(atLeast duration: Double, expecting expected: Int?) throws -> Double {
        var nanoseconds = 0.0
        var passes = 0
        repeat {
            let pass = try pass()
            if let expected, pass.checksum != expected {
                throw BenchError.checksumChanged(row: row.id, peer: peer, from: expected, to: pass.checksum)
            }
            nanoseconds += pass.nanoseconds
            passes += 1
        } while nanoseconds < duration
        return nanoseconds / Double(passes * operations)
    }

    /// The fewest of some passes: what others allocate meanwhile only adds. The pass's own threads, tasks and clean-up
    /// are counted too: dozens of allocations, spread over thousands of operations.
    func mallocsPerOperation(passes: Int = 5, isEnough: (Double) -> Bool) throws -> Double? {
        var fewest: Double?
        for _ in 0..<passes {
            let count = Double(try MallocCount.during { try countedPass() }) / Double(operations)
            fewest = min(count, fewest ?? count)
            if isEnough(count) { break }
        }
        return fewest
    }

    private func countedPass() throws {
        if let settle = workload.settle {
            try workload.runSettledPass(operations: operations, settle: settle)
        } else {
            _ = try pass()
        }
    }

    /// Nothing where the row isn't about memory.
    func bytesKeptPerOperation() throws -> Double? {
        guard let keep = workload.keep else { return nil }
        return Double(try MallocCount.bytesKept(by: keep)) / Double(operations)
    }
}
