internal import HTTPTypes
internal import Hummingbird
internal import QuarryInstrumentation
internal import Synchronization

extension CatalogServer {
    func addMetricsRoute(to router: Router<CatalogRequestContext>) {
        router.get("/metrics") { _, _ in
            reporter.report()
            metrics.set(Double(hub.subscribers.count), "catalog.events.clients")
            metrics.set(Double(hub.subscribers.disconnectedCount), "catalog.events.disconnected")
            metrics.set(Double(desk.runningCount), "catalog.imports.running")
            metrics.set(Double(connections.stalled.load(ordering: .relaxed)), "catalog.connections.stalled")
            metrics.set(Double(connections.abandoned.load(ordering: .relaxed)), "catalog.connections.abandoned")
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
        }
    }
}
