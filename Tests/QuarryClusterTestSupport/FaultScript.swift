public import QuarryClusterWire

/// A request that a node has received.
public struct RequestInfo: Sendable {
    /// A moment at which a fault script is asked.
    public enum Phase: Hashable, Sendable {
        /// The request has arrived, and nothing was executed.
        case received

        /// The request was executed, and nothing was sent. Of a query, the first page is complete.
        case executed
    }

    /// The number of the request among all of the cluster, from 1.
    public let number: Int

    /// The node's index.
    public let node: Int

    /// The number of the connection among all of the cluster, from 1, in the order of acceptance.
    public let connection: Int

    /// The request.
    public let request: Request

    /// The SQL text; of a request with a prepared statement, too.
    public let sql: String?

    /// The moment.
    public internal(set) var phase: Phase

    /// The kind of the request.
    public var kind: RequestKind { RequestKind(request) }
}

/// The reaction to a request.
public enum FaultAction: Sendable {
    /// Nothing unusual.
    case none

    /// Ends the connection without an answer. At `.received`, nothing was executed; at `.executed`, the answer is lost.
    case closeConnection

    /// Kills the node as `EmulatedCluster.kill(node:)` does: without an answer, and another node leads.
    case killNode

    /// Answers with a failure: at `.received` without an execution, at `.executed` in place of the answer.
    case fail(code: UInt64, message: String)

    /// Waits until the gate is open, then goes on.
    case delay(Gate)

    /// Waits until the client has sent another request, then goes on. It lets an INTERRUPT arrive in time.
    case awaitRequest

    /// Sends half of the answer, then ends the connection.
    case truncateAnswer

    /// Another node leads from now on, and the answer is failure 10250, "not leader".
    case loseLeadership
}

/// The faults of a cluster: a node asks for each request, before and after its execution.
///
/// The closures run on a connection's thread, without a lock: they may call the cluster.
public final class FaultScript: Sendable {
    /// Decides for a request at a phase.
    public typealias Handler = @Sendable (RequestInfo) -> FaultAction

    /// Decides for a page of rows.
    public typealias PageHandler = @Sendable (_ query: RequestInfo, _ page: Int) -> FaultAction

    private struct Plan {
        let id: Int
        let phase: RequestInfo.Phase
        let action: FaultAction
        let matches: @Sendable (RequestInfo) -> Bool
    }

    private struct State {
        var onRequest: Handler?
        var onPage: PageHandler?
        var plans: [Plan] = []
        var lastPlan = 0
    }

    private let state = Monitor(State())

    init() {}

    /// Decides for each request at each phase, unless a fault of `once` applies.
    public var onRequest: Handler? {
        get { state.withLock { $0.onRequest } }
        set { state.withLock { $0.onRequest = newValue } }
    }

    /// Decides before each page of a query but the first, from page 2 on. A failure takes the place of the page.
    public var onPage: PageHandler? {
        get { state.withLock { $0.onPage } }
        set { state.withLock { $0.onPage = newValue } }
    }

    /// Plans a fault for the first request that matches. Several plans apply in the order in which they were made.
    ///
    /// ```swift
    /// // The transaction is committed, and the client never learns of it.
    /// cluster.faults.once(.closeConnection, at: .executed) { $0.sql == "COMMIT" }
    /// ```
    public func once(
        _ action: FaultAction, at phase: RequestInfo.Phase, where matches: @escaping @Sendable (RequestInfo) -> Bool
    ) {
        state.withLock { state in
            state.lastPlan += 1
            state.plans.append(Plan(id: state.lastPlan, phase: phase, action: action, matches: matches))
        }
    }

    /// The number of planned faults that have not happened.
    public var plannedCount: Int { state.withLock { $0.plans.count } }

    /// Removes all plans and closures.
    public func clear() {
        state.withLock { state in
            state.onRequest = nil
            state.onPage = nil
            state.plans = []
        }
    }

    func action(for info: RequestInfo) -> FaultAction {
        let (plans, handler) = state.withLock { ($0.plans, $0.onRequest) }
        // The conditions are called without the lock, so another thread may carry out the plan meanwhile.
        for plan in plans where plan.phase == info.phase && plan.matches(info) && remove(plan.id) {
            return plan.action
        }
        return handler?(info) ?? .none
    }

    func action(for query: RequestInfo, page: Int) -> FaultAction { onPage?(query, page) ?? .none }

    private func remove(_ id: Int) -> Bool {
        state.withLock { state in
            guard let index = state.plans.firstIndex(where: { $0.id == id }) else { return false }
            state.plans.remove(at: index)
            return true
        }
    }
}
