import QuarryCore
import Synchronization

/// The fetches of one access: those of one line that were due when it began.
final class FetchBatch: @unchecked Sendable {
    // Sendable: one task or thread uses it at a time: first the access, then the broker that takes the outcomes.

    /// One observation of the batch.
    struct Item {
        let observation: RunningObservation
        let resources: RunningObservation.Resources
        /// Whether the observation has no region yet.
        let isFirst: Bool
        let previousRegion: DatabaseRegion?
        var outcome: Outcome?

        /// Whether the observation needs the region of this fetch.
        var findsRegion: Bool { isFirst || resources.fetch.findsRegionEachTime }
    }

    enum Outcome {
        /// - parameter region: nil if the fetch didn't look for it.
        /// - parameter snapshot: the number of the last commit that the fetch saw.
        case value(any Sendable, region: DatabaseRegion?, snapshot: Int, isSlow: Bool)
        case failure(any Error)
    }

    let broker: ObservationBroker
    let road: FetchRoad
    var items: [Item] = []
    /// The number of the last commit when the batch took its observations; nil before.
    var begunAt: Int?
    /// When the batch had its connection, in nanoseconds.
    private(set) var beginning: UInt64?

    init(_ broker: ObservationBroker, _ road: FetchRoad) {
        self.broker = broker
        self.road = road
    }

    /// Fetches in the access that has begun.
    ///
    /// - throws: the error of the transaction. The errors of fetches are their outcomes.
    func run(_ db: Database) throws {
        guard !items.isEmpty else { return }
        beginning = broker.journal.time.now
        switch road.kind {
        case .readers:
            let snapshot = try broker.journal.beginRead(db)
            try db.finishRead { fetchAll(db, snapshot) }
        case .queue:
            try db.beginRead(pinned: false)
            try db.finishRead {
                // Otherwise the commits that the fetch sees would be told later, and cause another fetch.
                db.noteOtherCommits()
                fetchAll(db, broker.journal.number)
            }
        case .snapshot: fetchAll(db, 0)
        case .writer:
            for index in items.indices { fetchWriting(db, index) }
        }
    }

    private func fetchAll(_ db: Database, _ snapshot: Int) {
        var outcomes: [ObjectIdentifier: Outcome] = [:]
        // Of observations that share a fetch, one may need the region.
        var regionFetches: Set<ObjectIdentifier> = []
        if items.count > 1 {
            for item in items where item.findsRegion { regionFetches.insert(ObjectIdentifier(item.resources.fetch)) }
        }
        for index in items.indices {
            // A serious error may have ended the transaction: the others are fetched in another batch.
            guard db.isInsideTransaction else { return }
            let item = items[index]
            guard broker.isRunning(item.observation) else { continue }
            let id = ObjectIdentifier(item.resources.fetch)
            willFetch(item)
            let outcome =
                outcomes[id]
                ?? fetch(db, item, snapshot, findsRegion: item.findsRegion || regionFetches.contains(id))
            if items.count > 1 { outcomes[id] = outcome }
            items[index].outcome = outcome
            didTrack(item, outcome)
        }
    }

    private func fetch(_ db: Database, _ item: Item, _ snapshot: Int, findsRegion: Bool) -> Outcome {
        let start = broker.journal.time.now
        do {
            let (value, region) = try item.resources.fetch.run(db, findsRegion: findsRegion)
            let isSlow = broker.journal.time.now - start > broker.slowFetch.load(ordering: .relaxed)
            return .value(value, region: region, snapshot: snapshot, isSlow: isSlow)
        } catch {
            return .failure(error)
        }
    }

    /// Fetches in a transaction that may write. An error rolls back the changes of this fetch alone.
    private func fetchWriting(_ db: Database, _ index: Int) {
        let item = items[index]
        guard broker.isRunning(item.observation) else { return }
        willFetch(item)
        var outcome: Outcome
        do {
            outcome = try db.withTransaction {
                let outcome = fetch(db, item, 0, findsRegion: item.findsRegion)
                if case .failure(let error) = outcome { throw error }
                return (.commit, outcome)
            }
        } catch {
            outcome = .failure(error)
        }
        if case .value(let value, let region, _, let isSlow) = outcome {
            // No other access can commit meanwhile: the fetch has seen all commits up to its own.
            outcome = .value(value, region: region, snapshot: broker.journal.number, isSlow: isSlow)
        }
        items[index].outcome = outcome
        didTrack(item, outcome)
    }

    // MARK: - Events

    private func willFetch(_ item: Item) {
        for events in item.resources.events {
            if !item.isFirst { events.databaseDidChange?() }
            events.willFetch?()
        }
    }

    private func didTrack(_ item: Item, _ outcome: Outcome) {
        guard !item.resources.events.isEmpty, case .value(_, let region?, _, _) = outcome,
            item.previousRegion != region
        else { return }
        for events in item.resources.events { events.willTrackRegion?(region) }
    }
}
