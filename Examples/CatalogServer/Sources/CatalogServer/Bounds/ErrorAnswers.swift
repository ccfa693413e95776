internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import PackageCatalog
internal import Quarry

/// The answer to a request that failed: `{"error": "There is no package \"nano\"."}`.
struct ErrorAnswer: Codable, Sendable, Equatable {
    var error: String
}

/// Turns all errors of handlers into answers of one shape.
///
/// An answer to HEAD has no body: a client would take it for the beginning of the next answer.
struct ErrorAnswers: RouterMiddleware {
    typealias Context = CatalogRequestContext

    /// Overload passes in a moment: waits for a connection are bounded by seconds.
    static let retryAfter = 2

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await answer(request, context: context, next: next)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = RequestError(error, request: request)
            if refusal.status.kind == .serverError, refusal.status != .serviceUnavailable {
                context.logger.error("Request failed: \(error)", metadata: ["path": "\(request.uri.path.excerpt)"])
            }
            return try refusal.response()
        }
    }
}

extension RequestError {
    func response() throws -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8"]
        if status == .serviceUnavailable { headers[.retryAfter] = String(ErrorAnswers.retryAfter) }
        // Whatever is left of a body that was refused isn't read, but for a little.
        if closesConnection { headers[.connection] = "close" }
        let body = try JSONEncoder.catalog.encode(ErrorAnswer(error: sentence))
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// The answer to any error of a handler.
    init(_ error: any Error, request: Request) {
        switch error {
        case let error as RequestError: self = error
        case let error as DatabaseError: self.init(error)
        case let error as HTTPError where error.status == .notFound:
            self.init(status: .notFound, sentence: "There is nothing at \(request.uri.path.excerpt).")
        case let error as any HTTPResponseError:
            self.init(status: error.status, sentence: "The request was refused: \(error.status.reasonPhrase).")
        case is CancellationError: self = .shuttingDown
        default: self.init(status: .internalServerError, sentence: "The server failed.")
        }
    }

    /// The answer to an error of the database: overload and shutdown pass, and clients may come again.
    init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_BUSY: self = .overloaded("Too many requests wait for the database.")
        case .SQLITE_INTERRUPT: self = .overloaded("The database took too long.")
        case .SQLITE_FULL:
            self.init(
                status: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"),
                sentence: "The disk of the server is full.")
        case .SQLITE_MISUSE where error.message?.hasPrefix("Connection is clos") == true: self = .shuttingDown
        default: self.init(status: .internalServerError, sentence: "The database failed.")
        }
    }

    static func overloaded(_ sentence: String) -> RequestError {
        RequestError(status: .serviceUnavailable, sentence: sentence)
    }

    /// Anything written now would be lost.
    static let withoutFile = RequestError.overloaded("The file of the database was removed or replaced.")

    static let shuttingDown = RequestError.overloaded("The server is shutting down.")
}

/// Refuses requests whose path and query are too long, before anything parses them.
struct LengthBound: RouterMiddleware {
    typealias Context = CatalogRequestContext

    let limits: ServerLimits

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let length = request.head.path?.utf8.count ?? 0
        guard length <= limits.uriLength else {
            throw RequestError(
                status: .uriTooLong,
                sentence: "The address has \(length) bytes; at most \(limits.uriLength) are allowed.")
        }
        return try await next(request, context)
    }
}
