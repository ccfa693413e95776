internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import PackageCatalog

extension CatalogServer {
    func addImportRoute(to router: Router<CatalogRequestContext>) {
        router.post("/imports") { request, _ in
            guard !hub.hasBegunShutdown else { throw RequestError.shuttingDown }
            guard catalog.isFileInPlace else { throw RequestError.withoutFile }
            let name = try sourceName(request)
            let body = try ImportBody(request, name: name, limits: limits)
            let ticket = try desk.begin(name, totalByteCount: body.byteCount)
            do {
                let late = RequestError(
                    status: .requestTimeout,
                    sentence: "No package has come within \(limits.beginningTime).", closesConnection: true)
                try await withinBounds(limits.beginningTime, orThrow: late) { try await body.readBeginning() }
            } catch {
                ticket.end(.failed(.init(reason: RequestError(error, request: request).sentence)))
                throw error
            }
            return Response(
                status: .ok, headers: ServerSentEvent.headers,
                body: ResponseBody { writer in
                    try await answer(body, ticket, to: &writer)
                    try await writer.finish(nil)
                })
        }
    }

    /// Writes the events of an import while it runs. Events that come while a client doesn't read are replaced by later
    /// ones. If the client goes away, the import is cancelled.
    private func answer(
        _ body: ImportBody, _ ticket: ImportTicket, to writer: inout any ResponseBodyWriter
    ) async throws {
        let (events, send) = AsyncStream.makeStream(of: ImportAnswer.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup { group in
            group.addTask {
                let last = await runImport(of: body, ticket, watch: body.watchPace) { send.yield($0) }
                send.yield(last)
                send.finish()
            }
            for await event in events { try await writer.write(event.buffer()) }
        }
    }

    /// The name under which the catalogue keeps what is imported: an import replaces the one before of the same name.
    private func sourceName(_ request: Request) throws -> String {
        guard let name = try QueryParameters(request.uri)["source"] else {
            throw RequestError.bad(
                "The parameter \"source\" is missing: the name of the list, whose packages the import replaces.")
        }
        guard name.utf8.count <= 200, name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw RequestError.bad("The name of the source must have at most 200 bytes, and no control characters.")
        }
        return name
    }
}
