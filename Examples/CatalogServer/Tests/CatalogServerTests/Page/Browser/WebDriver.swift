import Foundation
import HTTPTypes
import NIOCore

/// A client of `chromedriver`: <https://www.w3.org/TR/webdriver2/>.
struct WebDriver: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private struct Answer<Value: Decodable>: Decodable {
        var value: Value
    }

    private struct Problem: Decodable {
        var error, message: String
    }

    /// An answer whose value isn't looked at.
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }

    private struct Session: Decodable {
        var sessionId: String
    }

    private let client: TestClient
    /// The path of the session; empty for the driver.
    private let path: String

    /// Opens a browser without a window. Root, as in containers, can't have Chromium's sandbox.
    init(port: Int) async throws {
        let driver = WebDriver(client: TestClient(port: port), path: "")
        let session: Session = try await driver.request(
            .post, "/session",
            """
            {"capabilities": {"alwaysMatch": {
                "timeouts": {"script": 30000, "pageLoad": 30000}, "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--disable-dev-shm-usage", "--lang=en", "--window-size=1280,900"]}}}}
            """)
        self.init(client: driver.client, path: "/session/\(session.sessionId)")
    }

    private init(client: TestClient, path: String) {
        self.client = client
        self.path = path
    }

    func close() async throws { let _: Ignored = try await request(.delete, "", nil) }

    /// Sends a command of the session.
    func post(_ path: String, _ body: String = "{}") async throws {
        let _: Ignored = try await request(.post, path, body)
    }

    func post<Value: Decodable>(_ path: String, _ body: String = "{}", as type: Value.Type) async throws -> Value {
        try await request(.post, path, body)
    }

    func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        try await request(.get, path, nil)
    }

    /// Sends a command of the DevTools: <https://chromedevtools.github.io/devtools-protocol/>.
    func devTools(_ command: String, _ parameters: String) async throws {
        try await post("/goog/cdp/execute", #"{"cmd": "\#(command)", "params": \#(parameters)}"#)
    }

    /// Foundation's client on Linux refuses the headers of `chromedriver`.
    private func request<Value: Decodable>(
        _ method: HTTPRequest.Method, _ command: String, _ body: String?
    ) async throws -> Value {
        let response = try await client.send(
            method, path + command, headers: body == nil ? [:] : [.contentType: "application/json"],
            body: body.map(TestClient.Body.text), within: .seconds(60))
        let data = try await Data(response.body.collect(upTo: 1 << 25).readableBytesView)
        guard response.status.code == 200 else {
            let problem = try JSONDecoder().decode(Answer<Problem>.self, from: data).value
            throw Failure(description: "\(command): \(problem.error): \(problem.message.prefix(300))")
        }
        return try JSONDecoder().decode(Answer<Value>.self, from: data).value
    }
}

extension String {
    /// As a string of JSON.
    var json: String {
        guard let data = try? JSONEncoder().encode(self) else { return "\"\"" }
        return String(decoding: data, as: UTF8.self)
    }
}
