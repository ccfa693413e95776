import QuarryCore

/// An observation that has been started.
final class RunningObservation: @unchecked Sendable {
    // Sendable: the broker reads and changes `record` with its lock held. The rest doesn't change.

    /// The facts that the broker keeps. Its objects are released when the observation ends.
    struct Record {
        var machine: ObservationStateMachine
        /// The region of the last fetch; nil before the first.
        var region: DatabaseRegion?
        /// The number of the last commit that the last fetch saw.
        var snapshot = 0
        /// Whether the index has it.
        var isIndexed = false
        /// Whether the last fetch took so long that others should not wait for it.
        var isSlow = false
        /// Waits for the end of a pause.
        var pause: Task<Void, Never>?
        /// Nil when the observation has ended.
        var resources: Resources?
    }

    /// The objects that an observation uses until it ends.
    struct Resources: Sendable {
        /// Keeps the database alive.
        let reader: any GroupReader
        let road: FetchRoad
        let fetch: ObservedFetch
        let events: [ObservationEvents]
        let timer: (any PaceTimer)?
    }

    var record: Record
    let sink: any ObservationSink

    init(_ resources: Resources, pace: ObservationPace.Kind?, sink: any ObservationSink) {
        record = Record(machine: ObservationStateMachine(pace: pace), resources: resources)
        self.sink = sink
    }
}

/// The connections on which observations fetch, and the observations that are due on them.
final class FetchRoad: @unchecked Sendable {
    // Sendable: the broker reads and changes `line` and `observationCount` with its lock held. The rest doesn't change.

    enum Kind: Sendable, Equatable {
        /// The readers of a pool.
        case readers
        /// The connection of a queue.
        case queue
        /// A snapshot, whose content never changes.
        case snapshot
        /// The connection that writes.
        case writer
    }

    struct ID: Hashable {
        let runner: ObjectIdentifier
        let writes: Bool
    }

    let runner: AccessRunner
    let kind: Kind
    var line: FetchLine<RunningObservation>
    /// Nil where fetches have connections of their own.
    var pace: FetchPace?
    var observationCount = 0

    init(_ runner: AccessRunner, _ kind: Kind, maximumBatchCount: Int) {
        self.runner = runner
        self.kind = kind
        line = FetchLine(maximumBatchCount: maximumBatchCount)
        switch kind {
        case .readers, .snapshot: break
        case .queue, .writer: pace = FetchPace()
        }
    }

    var id: ID { ID(runner: ObjectIdentifier(runner), writes: kind == .writer) }

    /// A batch begins its own transactions, because it must know which commits they see.
    var request: AccessRequest { AccessRequest(kind == .snapshot ? .snapshotRead : .bare, origin: .library) }
}

extension GroupReader {
    /// The connections on which an observation fetches.
    func fetchRoad(writes: Bool) -> FetchRoad {
        guard let writer = self as? any GroupWriter else {
            return FetchRoad(readers, .snapshot, maximumBatchCount: configuration.maximumReaderCount / 2)
        }
        if writes { return FetchRoad(writer.writer, .writer, maximumBatchCount: 1) }
        if writer.writer === readers { return FetchRoad(readers, .queue, maximumBatchCount: 1) }
        return FetchRoad(readers, .readers, maximumBatchCount: configuration.maximumReaderCount / 2)
    }
}
