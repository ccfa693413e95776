/// Runs rows: all peers in one process, in turns, so that drift of the machine meets them alike.
package struct Harness {
    package struct Options: Sendable {
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
        let operations =
            switch row.task {
            case .cursorByPosition, .cursorUntyped, .cursorByName, .structsByPosition, .intArray: fixtures.itemCount
            case .stringArray, .optionalArray: fixtures.playerCount
            default: row.operations.scaled(by: options.scale)
            }
        let entrants = try peers.compactMap { peer in
            try peer.workload(for: row.task, fixtures: fixtures).map {
                Entrant(peer: peer.name, row: row, operations: operations, workload: $0)
            }
        }
        let checksums = try warmUp(entrants, row)
        var samples: [PeerName: Samples] = [:]
        for round in 0..<options.rounds {
            for turn in entrants.indices {
                let entrant = entrants[(round + turn) % entrants.count]
                let nanoseconds = try entrant.sample(
                    atLeast: options.sampleNanoseconds, expecting: checksums[entrant.peer])
                samples[entrant.peer, default: Samples()].append(nanoseconds)
            }
        }
        return RowResult(row: row, samples: samples, mallocs: try countMallocs(entrants))
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
    private func countMallocs(_ entrants: [Entrant]) throws -> [PeerName: Double] {
        guard MallocCount.isAvailable else { return [:] }
        var mallocs: [PeerName: Double] = [:]
        for entrant in entrants {
            mallocs[entrant.peer] = try entrant.mallocsPerOperation()
        }
        return mallocs
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

    /// The pass's own threads, tasks and clean-up are counted too: dozens of allocations, spread over thousands of
    /// operations.
    func mallocsPerOperation() throws -> Double {
        let count = try MallocCount.during { _ = try pass() }
        return Double(count) / Double(operations)
    }
}
