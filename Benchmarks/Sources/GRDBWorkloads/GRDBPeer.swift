package import BenchSupport
import GRDB

package struct GRDBPeer: Peer {
    package let name = PeerName.grdb

    package init() {}

    package func workload(for task: BenchTask, fixtures: Fixtures) throws -> Workload? {
        // Its asynchronous accesses always run on threads of its own.
        try LibraryWorkloads.workload(for: task, fixtures: fixtures, offloaded: Configuration())
    }
}
