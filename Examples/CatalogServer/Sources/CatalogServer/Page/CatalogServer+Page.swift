internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore

extension CatalogServer {
    /// `/`, and the files that the page refers to.
    func addPageRoutes(to router: Router<CatalogRequestContext>) {
        router.get("/") { request, context in await page(request, context) }
        for file in CatalogPage.files {
            let entityTag = file.entityTag
            let headers: HTTPFields = [
                .contentType: file.contentType, .eTag: entityTag, .cacheControl: "no-cache",
                .xContentTypeOptions: "nosniff",
            ]
            let buffer = ByteBuffer(bytes: file.bytes)
            router.get(RouterPath(file.path)) { request, _ in
                // A browser asks whether its copy is the newest.
                guard request.headers[.ifNoneMatch] != entityTag else {
                    return Response(status: .notModified, headers: headers)
                }
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
            }
        }
    }

    /// The page of an address. A request that can't be answered gets a page, too, which says why.
    private func page(_ request: Request, _ context: CatalogRequestContext) async -> Response {
        var content = PageContent(request: PageRequest(), maximumQueryLength: limits.queryLength)
        content.rowsPerPage = limits.pageLength
        var status = HTTPResponse.Status.ok
        do {
            content.statistics = try await statistics()
            content.request = try PageRequest(QueryParameters(request.uri), limits: limits)
            content.packages = try await packages(content.request)
            if let name = content.request.package {
                content.details = try await details(of: name)
                if content.details == nil { status = .notFound }
            }
        } catch {
            let refusal = RequestError(error, request: request)
            content.problem = refusal.sentence
            status = refusal.status
            if status == .internalServerError { context.logger.error("The page can't be shown: \(error)") }
        }
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: CatalogPage.contentSecurityPolicy,
            .cacheControl: "no-cache", .xContentTypeOptions: "nosniff", .referrerPolicy: "same-origin",
        ]
        if status == .serviceUnavailable { headers[.retryAfter] = String(ErrorAnswers.retryAfter) }
        let html = ByteBuffer(string: CatalogPage.render(content))
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: html))
    }
}

extension HTTPField.Name {
    /// <https://www.w3.org/TR/referrer-policy/>
    fileprivate static var referrerPolicy: HTTPField.Name { HTTPField.Name("Referrer-Policy")! }
}
