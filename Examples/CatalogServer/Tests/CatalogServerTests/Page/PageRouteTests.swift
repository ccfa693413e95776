import HTTPTypes
import NIOCore
import Testing

@testable import CatalogServer

/// The page and its files through the routes, on a catalogue in memory.
struct PageRouteTests {
    private func get(_ uri: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await TestServer.run(runsServices: false) { server in try await server.get(uri, headers: headers) }
    }

    @Test func thePageAllowsItsOwnScriptAlone() async throws {
        let response = try await get("/")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(
            response.headers[.contentSecurityPolicy]
                == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(String(buffer: response.body).contains("The catalogue is empty."))
    }

    @Test(arguments: [
        ("/?package=nano", 404, "No package is named “nano”."), ("/?page=2", 404, "There is no page 2"),
        ("/?page=x", 400, "The page must be a number from 1, not &quot;x&quot;."), ("/?q=%zz", 400, "percent encoding"),
    ])
    func aBadRequestGetsAPage(uri: String, status: Int, text: String) async throws {
        let response = try await get(uri)
        #expect(response.status.code == status)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.contentSecurityPolicy] != nil)
        #expect(String(buffer: response.body).contains(text))
    }

    @Test(arguments: CatalogPage.files.map(\.path))
    func filesAreSentOnce(path: String) async throws {
        let file = try #require(CatalogPage.files.first { $0.path == path })
        let response = try await get(path)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == file.contentType)
        #expect(Array(buffer: response.body) == file.bytes)
        let again = try await get(path, headers: [.ifNoneMatch: try #require(response.headers[.eTag])])
        #expect(again.status == .notModified && again.body.readableBytes == 0)
    }
}
