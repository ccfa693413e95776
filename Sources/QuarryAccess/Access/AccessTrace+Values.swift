import QuarryCore

extension DatabaseTraceEvent.AccessKind {
    init(_ request: AccessRequest) {
        self =
            switch request.kind {
            case _ where request.barrier != nil: .exclusive
            case .read, .pinnedRead, .begunRead, .snapshotRead: .read
            case .write: .write
            case .bare: .withoutTransaction
            }
    }
}

extension ConnectionGroup {
    /// The accesses that have connections, and their labels.
    var holders: [(connection: DatabaseTraceEvent.Connection, label: String?)] {
        state.withLock { state in
            (state.connections + [state.barrier.connection]).compactMap { connection in
                guard let db = connection?.database, let number = db.runningAccess, let connection = db.tracedConnection
                else { return nil }
                return (connection, db.accessLabel(ofAccess: number))
            }
        }
    }
}
