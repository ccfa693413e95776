import QuarryCore

// Accesses that tracers follow. All others pay for one comparison, of `TracerList.hasAny`.

extension AccessRunner {
    /// The request of an access whose events are collected; nil if no tracer concerns it, or if it has a trace already.
    @inline(never)
    func tracing(_ request: AccessRequest, isAsynchronous: Bool) -> AccessRequest? {
        guard request.trace == nil, let trace = AccessTrace(self, request, isAsynchronous: isAsynchronous) else {
            return nil
        }
        var request = request
        request.trace = trace
        return request
    }

    /// The request of an access in its own task, whose events are collected if a tracer concerns it.
    func tracedIfAny(_ request: AccessRequest) -> AccessRequest {
        guard TracerList.hasAny else { return request }
        return tracing(request, isAsynchronous: true) ?? request
    }

    /// Runs an access with a trace, and delivers its events.
    @inline(never)
    func performTraced<T>(_ request: AccessRequest, _ body: (Database) throws -> T) throws -> T {
        try Self.delivering(request.trace) { try perform(request, body) }
    }

    @inline(never)
    func performTraced<T: Sendable>(
        _ request: AccessRequest, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await Self.delivering(request.trace) { try await perform(request, body) }
    }

    /// Runs a whole access, and delivers the events of its trace.
    static func delivering<T>(_ trace: AccessTrace?, _ access: () throws -> T) throws -> T {
        let result: T
        do {
            result = try access()
        } catch {
            throw trace?.finish(error) ?? error
        }
        trace?.finish()
        return result
    }

    /// As above, for an asynchronous access.
    static func delivering<T: Sendable>(_ trace: AccessTrace?, _ access: () async throws -> T) async throws -> T {
        let result: T
        do {
            result = try await access()
        } catch {
            throw trace?.finish(error) ?? error
        }
        trace?.finish()
        return result
    }

    /// The frame of an access with a trace. The tracer follows `BEGIN` and `COMMIT`, too.
    @inline(never)
    static func tracedFrame<T>(
        _ db: Database, _ token: AccessToken?, followsTask: Bool, _ trace: AccessTrace, kind: AccessRequest.Kind,
        _ body: (Database) throws -> T
    ) throws -> T {
        let client = trace.accessWillRun(db)
        defer { trace.accessDidRun(db, client) }
        let isTimed = db.takeTiming()
        return try frame(db, token, followsTask: followsTask) { db in
            defer { trace.bodyDidEnd(db) }
            return try kind.run(db) { db in isTimed ? try db.timed(body) : try body(db) }
        }
    }

    /// Runs an access whose body is timed, for statistics.
    @inline(never)
    static func timed<T>(
        _ db: Database, _ kind: AccessRequest.Kind, _ body: (Database) throws -> T
    ) throws -> T { try kind.run(db) { db in try db.timed(body) } }
}
