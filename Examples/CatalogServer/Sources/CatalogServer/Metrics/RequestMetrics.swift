internal import HTTPTypes
internal import Hummingbird
internal import Metrics
internal import Synchronization

/// Counts requests, and measures how long they take until their answer begins, by route and status.
///
/// The labels are the routes of the program, never paths, so that no client can make up new ones.
final class RequestMetrics: RouterMiddleware {
    typealias Context = CatalogRequestContext

    private struct Key: Hashable {
        let route, method: String
        let status: Int
    }

    private struct Instruments {
        let count: Counter
        let duration: Timer
    }

    private let registry: PrometheusRegistry
    private let instruments = Mutex<[Key: Instruments]>([:])

    init(_ registry: PrometheusRegistry) { self.registry = registry }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            note(request, context, response.status, since: start)
            return response
        } catch {
            note(request, context, .internalServerError, since: start)
            throw error
        }
    }

    private func note(
        _ request: Request, _ context: Context, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant
    ) {
        let key = Key(
            route: context.endpointPath ?? "unknown", method: Self.method(request.method), status: status.code)
        let instruments = instruments.withLock { all in
            if let existing = all[key] { return existing }
            let made = make(key)
            all[key] = made
            return made
        }
        instruments.count.increment()
        let (seconds, attoseconds) = start.duration(to: .now).components
        instruments.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// HTTP allows any word as a method.
    private static func method(_ method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .delete, .options, .patch: method.rawValue
        default: "other"
        }
    }

    private func make(_ key: Key) -> Instruments {
        let labels = [
            ("http.route", key.route), ("http.request.method", key.method),
            ("http.response.status_code", String(key.status)),
        ]
        return Instruments(
            count: Counter(label: "http.server.requests", dimensions: labels, factory: registry),
            duration: Timer(
                label: "http.server.request.duration", dimensions: Array(labels.dropLast()),
                preferredDisplayUnit: .seconds, factory: registry))
    }
}
