internal import QuarryClusterWire

/// A connection of a client, served by its own thread.
final class NodeSession: @unchecked Sendable {
    // `@unchecked`: the thread that calls `run()` alone uses `frames`, `decoder` and `preparedSQL`; `database` and
    // `query` are used inside `ClusterCore.execute` only; the other properties are constants of Sendable types.
    let number: Int
    let core: ClusterCore
    private let socket: Socket
    private let listener: NodeListener
    private let gate = Monitor<Gate?>(nil)

    private var decoder = FrameDecoder()
    private var frames: [Frame] = []
    /// The SQL of prepared statements, by their ids.
    private var preparedSQL: [UInt32: String] = [:]

    var database: SessionDatabase?
    /// The query that has further pages.
    var query: PageWriter?

    var node: Int { listener.node }

    init(_ socket: Socket, of listener: NodeListener, number: Int, _ core: ClusterCore) {
        self.socket = socket
        self.listener = listener
        self.number = number
        self.core = core
    }

    // MARK: Calls of other threads

    /// Rolls back the transaction, inside `ClusterCore.execute`.
    func rollBack() {
        database?.rollBack()
        query = nil
    }

    /// Ends the connection, and its wait for a gate or a request.
    func end() {
        socket.shutDown()
        gate.withLock { $0 }?.release(number)
    }

    // MARK: The thread

    func run() {
        serve()
        let isOfLivingNode = core.execute {
            rollBack()
            database = nil
            return core.state.withLock { $0.remove(number) }
        }
        // The connections of a killed node end when new ones are refused.
        if !isOfLivingNode { listener.waitUntilStopped() }
        socket.close()
    }

    private func serve() {
        guard receiveHandshake() else { return }
        while let frame = nextFrame() {
            do {
                let request = try Request(decoding: frame)
                guard answer(request) else { return }
            } catch {
                // A request that ends early can't be told from lost synchronization.
                let isReadable = error.reason == .unknownCode || error.reason == .invalidUTF8
                guard isReadable, send(.failure(code: 1005, message: error.description)) else { return }
            }
        }
    }

    /// - returns: whether the connection goes on.
    private func answer(_ request: Request) -> Bool {
        var info = core.log.append { index in
            RequestInfo(
                number: index, node: node, connection: number, request: request, sql: sql(of: request),
                phase: .received)
        }
        var isTruncated = false
        switch carryOut(core.faults.action(for: info)) {
        case .goOn: break
        case .truncate: isTruncated = true
        case .fail(let failure): return send(.failure(code: failure.code, message: failure.message))
        case .end: return false
        }
        let reply = perform(request)
        info.phase = .executed
        guard reply.isSent else { return false }
        switch carryOut(core.faults.action(for: info)) {
        case .goOn: break
        case .truncate: isTruncated = true
        case .fail(let failure):
            endQuery()
            return send(.failure(code: failure.code, message: failure.message))
        case .end: return false
        }
        guard send(reply, isTruncated: isTruncated) else { return false }
        return reply.hasMore ? sendFurtherPages(of: info) : true
    }

    private func sendFurtherPages(of info: RequestInfo) -> Bool {
        var page = 2
        while true {
            var isTruncated = false
            switch carryOut(core.faults.action(for: info, page: page)) {
            case .goOn: break
            case .truncate: isTruncated = true
            case .fail(let failure):
                endQuery()
                return send(.failure(code: failure.code, message: failure.message))
            case .end: return false
            }
            if core.interruptsRunningQueries, isInterruptNext {
                endQuery()
                return true
            }
            let reply = nextPage()
            guard reply.isSent, send(reply, isTruncated: isTruncated) else { return false }
            if !reply.hasMore { return true }
            page += 1
        }
    }

    // MARK: Faults

    private enum Consequence {
        case goOn
        case truncate
        case fail(StatementFailure)
        case end
    }

    private func carryOut(_ action: FaultAction) -> Consequence {
        switch action {
        case .none: return .goOn
        case .closeConnection: return .end
        case .truncateAnswer: return .truncate
        case .fail(let code, let message): return .fail(StatementFailure(code: code, message: message))
        case .killNode:
            core.kill(node, electing: .next)
            return .end
        case .loseLeadership:
            core.depose { $0.dropLeadership(of: node) }
            return .fail(.notLeader)
        case .delay(let gate):
            self.gate.withLock { $0 = gate }
            // The session may have ended before the gate was noted.
            if core.standing(of: self) == .ended { return .end }
            gate.pass(number)
            self.gate.withLock { $0 = nil }
            return core.standing(of: self) == .ended ? .end : .goOn
        case .awaitRequest: return receiveFrame() ? .goOn : .end
        }
    }

    // MARK: Bytes

    private func receiveHandshake() -> Bool {
        var bytes: [UInt8] = []
        while bytes.count < 8 {
            guard let received = socket.receive() else { return false }
            bytes += received
        }
        decoder.append(Array(bytes[8...]))
        let version = bytes[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return version == Handshake.version
    }

    private func nextFrame() -> Frame? { receiveFrame() ? frames.removeFirst() : nil }

    /// Waits for a frame, unless one has arrived.
    private func receiveFrame() -> Bool {
        while true {
            guard takeFrames() else { return false }
            if !frames.isEmpty { return true }
            guard let received = socket.receive() else { return false }
            decoder.append(received)
        }
    }

    /// - returns: `false` if the bytes can't be frames.
    private func takeFrames() -> Bool {
        do {
            while let frame = try decoder.next() { frames.append(frame) }
            return true
        } catch {
            return false
        }
    }

    /// Whether the next request has arrived and is an INTERRUPT.
    private var isInterruptNext: Bool {
        while let received = socket.receiveNow() { decoder.append(received) }
        guard takeFrames(), let next = frames.first, case .interrupt? = try? Request(decoding: next) else {
            return false
        }
        return true
    }

    private func send(_ response: Response) -> Bool { send(.response(response), isTruncated: false) }

    private func send(_ reply: Reply, isTruncated: Bool) -> Bool {
        switch reply {
        case .aborted(let reason, let answer):
            if let answer { _ = send(.failure(code: answer.code, message: answer.message)) }
            core.kill(node, electing: .next, abort: reason)
            return false
        case .ended: return false
        case .response, .page:
            let bytes = reply.bytes
            guard isTruncated else { return socket.send(bytes) }
            _ = socket.send(bytes[..<(bytes.count / 2)])
            return false
        }
    }

    // MARK: The SQL of requests

    private func sql(of request: Request) -> String? {
        switch request {
        case .prepare(_, let sql), .executeSQL(_, let sql, _), .querySQL(_, let sql, _): sql
        case .execute(_, let id, _), .query(_, let id, _), .finalize(_, let id): preparedSQL[id]
        default: nil
        }
    }

    func note(_ sql: String?, of statement: UInt32) { preparedSQL[statement] = sql }
}
