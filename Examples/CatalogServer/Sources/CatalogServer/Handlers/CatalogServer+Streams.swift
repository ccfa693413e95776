internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

extension CatalogServer {
    func addEventRoute(to router: Router<CatalogRequestContext>) {
        router.get("/events") { _, context in
            guard !hub.hasBegunShutdown else { throw RequestError.shuttingDown }
            // A client that doesn't read would never let its stream end by itself.
            let channel = context.channel
            guard let events = hub.subscribers.subscribe(disconnect: { channel.close(promise: nil) }) else {
                var refusal = RequestError.overloaded(
                    "No more than \(limits.eventClients) clients may listen to events.")
                // The connections that streams leave are for other requests.
                refusal.closesConnection = true
                throw refusal
            }
            return Response(
                status: .ok, headers: ServerSentEvent.headers,
                body: ResponseBody { writer in
                    try await withGracefulShutdownHandler {
                        for await event in events.cancelOnGracefulShutdown() { try await writer.write(event) }
                        try await writer.finish(nil)
                    } onGracefulShutdown: {
                        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
                    }
                })
        }
    }
}
