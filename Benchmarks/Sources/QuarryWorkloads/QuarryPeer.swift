package import BenchSupport
import Quarry

package struct QuarryPeer: Peer {
    package let name = PeerName.quarry

    package init() {}

    package func workload(for task: BenchTask, fixtures: Fixtures) throws -> Workload? {
        if let workload = try CommitWorkloads.workload(for: task, fixtures) { return workload }
        if let workload = try CatalogWorkloads.workload(for: task, fixtures) { return workload }
        var offloaded = Configuration()
        offloaded.asyncExecution = .offloaded
        return try LibraryWorkloads.workload(for: task, fixtures: fixtures, offloaded: offloaded)
    }
}
