internal import Hummingbird
internal import Synchronization

/// The state of an import, and the event `import` of `GET /events`.
struct ImportStatus: Codable, Sendable, Equatable {
    enum State: String, Codable, Sendable {
        case running, done, failed
    }

    var id: Int
    var source: String
    var state = State.running
    var packageCount = 0
    var byteCount = 0
    /// Absent if the client hasn't told it.
    var totalByteCount: Int?
    /// A sentence about an import that has failed.
    var reason: String?
}

/// The running imports of this server: at most one of each source, because one that runs beside another of the same
/// source would remove packages that the other has just stored.
final class ImportDesk: Sendable {
    private struct State {
        var nextID = 1
        var running: [Int: ImportStatus] = [:]
        /// The imports that have changed since the last event.
        var changed: [Int: ImportStatus] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    private let signal: AsyncStream<Void>.Continuation

    /// An element after each change; several changes may come as one.
    let changes: AsyncStream<Void>

    /// - parameter limit: how many imports may run.
    init(limit: Int) {
        self.limit = limit
        (changes, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins an import, which ends with its ticket.
    ///
    /// - throws: `RequestError` with 503 if the source is being imported, or too many imports run.
    func begin(_ source: String, totalByteCount: Int?) throws -> ImportTicket {
        let id = try state.withLock { state in
            guard !state.running.values.contains(where: { $0.source == source }) else {
                throw RequestError.overloaded("An import of \(source.excerpt) is running.")
            }
            guard state.running.count < limit else {
                throw RequestError.overloaded("No more than \(limit) imports may run at a time.")
            }
            let status = ImportStatus(id: state.nextID, source: source, totalByteCount: totalByteCount)
            state.nextID += 1
            state.running[status.id] = status
            state.changed[status.id] = status
            return status.id
        }
        signal.yield()
        return ImportTicket(desk: self, id: id)
    }

    /// The states that have changed since the last call, in the order of their numbers.
    func takeChanged() -> [ImportStatus] {
        state.withLock { state in
            defer { state.changed = [:] }
            return state.changed.values.sorted { $0.id < $1.id }
        }
    }

    var runningCount: Int { state.withLock(\.running.count) }

    fileprivate func update(_ id: Int, _ change: (inout ImportStatus) -> Void) {
        state.withLock { state in
            guard var status = state.running[id] else { return }
            change(&status)
            state.running[id] = status.state == .running ? status : nil
            state.changed[id] = status
        }
        signal.yield()
    }
}

/// The right to import a source. If nothing has noted an end, the import counts as failed when the ticket is released.
final class ImportTicket: Sendable {
    private let desk: ImportDesk
    private let id: Int

    fileprivate init(desk: ImportDesk, id: Int) {
        self.desk = desk
        self.id = id
    }

    deinit {
        desk.update(id) { status in
            status.state = .failed
            status.reason = "The client went away."
        }
    }

    func progress(_ progress: ImportAnswer.Progress) {
        desk.update(id) { status in
            status.packageCount = progress.packageCount
            status.byteCount = progress.byteCount
        }
    }

    func end(_ answer: ImportAnswer) {
        desk.update(id) { status in
            switch answer {
            case .progress: break
            case .done(let done):
                status.state = .done
                status.packageCount = done.packageCount
            case .failed(let failure):
                status.state = .failed
                status.reason = failure.reason
            }
        }
    }
}
