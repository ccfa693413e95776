internal import HTTPTypes
internal import Hummingbird

extension CatalogServer {
    /// Refuses the other methods of all routes with 405, and names those that are allowed.
    func refuseOtherMethods(of router: Router<CatalogRequestContext>) {
        for route in router.routes {
            let allowed: [HTTPRequest.Method] = route.method == .get ? [.get, .head] : [route.method]
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            for method in [.get, .head, .post, .put, .patch, .delete, .options] as [HTTPRequest.Method]
            where !allowed.contains(method) {
                router.on(route.path, method: method) { request, _ -> Response in
                    let path = request.uri.path.excerpt
                    var response = try RequestError(
                        status: .methodNotAllowed,
                        sentence: "\(path) can't be asked for by \(method.rawValue), but by \(names)."
                    ).response()
                    response.headers[.allow] = names
                    return response
                }
            }
        }
    }
}
