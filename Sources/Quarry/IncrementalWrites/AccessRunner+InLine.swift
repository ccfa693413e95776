import QuarryCore

extension AccessRunner {
    /// Runs an access on this thread, which overtakes no other access: a connection that was just released is for those
    /// who wait for it.
    func performInLine<T>(_ request: AccessRequest, _ body: (Database) throws -> T) throws -> T {
        if TracerList.hasAny, let traced = tracing(request, isAsynchronous: false) {
            return try Self.delivering(traced.trace) { try performInLine(traced, body) }
        }
        let lease = try group.leaseInLine(request.origin, request.trace)
        defer { group.release(lease) }
        return try lease.withDatabase { db in
            try Self.frame(db, nil, trace: request.trace, kind: request.kind, body)
        }
    }
}

extension ConnectionGroup {
    fileprivate func leaseInLine(_ origin: AccessRequest.Origin, _ trace: AccessTrace?) throws -> Lease {
        // A connection that this thread has would never come back while the thread waits.
        if ownedConnection != nil { throw DatabaseError.reentrantAccess() }
        let (grant, arrival) = try wait(for: .connection, origin, trace, as: .offloadedTask)
        return try take(grant, arrival: arrival)
    }
}
