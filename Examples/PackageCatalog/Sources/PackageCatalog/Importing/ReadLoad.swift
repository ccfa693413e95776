import Synchronization

/// Readers that query a catalogue for as long as something else goes on, as the clients of a server would.
///
///     let load = ReadLoad(catalog: catalog, readers: 2)
///     let (result, reads) = try await load.run { try await importer.run(files) { … } }
struct ReadLoad: Sendable {
    let catalog: Catalog
    let readers: Int

    struct Reads: Sendable, Equatable {
        var count = 0
        var elapsed = Duration.zero
    }

    /// - throws: what `work` throws, or else what a reader threw.
    func run<Value>(during work: () async throws -> Value) async throws -> (Value, Reads) {
        let isDone = Flag()
        let start = ContinuousClock.now
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<readers { group.addTask { try await read(until: isDone) } }
            let value = try await work()
            isDone.raise()
            let count = try await group.reduce(0, +)
            return (value, Reads(count: count, elapsed: .now - start))
        }
    }

    /// Mostly the lookups that a client asks for, and now and then the totals. Each reader reads at least once.
    private func read(until isDone: Flag) async throws -> Int {
        var count = 0
        repeat {
            if count.isMultiple(of: 50) {
                _ = try await catalog.counts()
            } else {
                _ = try await catalog.newestPackage()
            }
            count += 1
        } while !isDone.isRaised
        return count
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}
