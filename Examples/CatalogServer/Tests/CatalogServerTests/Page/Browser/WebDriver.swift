import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

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

    /// Of the driver, or of its session.
    private let address: String

    /// Opens a browser without a window. Root, as in containers, can't have Chromium's sandbox.
    init(port: Int) async throws {
        let driver = WebDriver(address: "http://127.0.0.1:\(port)")
        let session: Session = try await driver.request(
            .POST, "/session",
            """
            {"capabilities": {"alwaysMatch": {
                "timeouts": {"script": 30000, "pageLoad": 30000}, "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--disable-dev-shm-usage", "--lang=en", "--window-size=1280,900"]}}}}
            """)
        self.init(address: "\(driver.address)/session/\(session.sessionId)")
    }

    private init(address: String) { self.address = address }

    func close() async throws { let _: Ignored = try await request(.DELETE, "", nil) }

    /// Sends a command of the session.
    func post(_ path: String, _ body: String = "{}") async throws {
        let _: Ignored = try await request(.POST, path, body)
    }

    func post<Value: Decodable>(_ path: String, _ body: String = "{}", as type: Value.Type) async throws -> Value {
        try await request(.POST, path, body)
    }

    func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        try await request(.GET, path, nil)
    }

    /// Sends a command of the DevTools: <https://chromedevtools.github.io/devtools-protocol/>.
    func devTools(_ command: String, _ parameters: String) async throws {
        try await post("/goog/cdp/execute", #"{"cmd": "\#(command)", "params": \#(parameters)}"#)
    }

    /// Foundation's client on Linux refuses the headers of `chromedriver`.
    private func request<Value: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: String?
    ) async throws -> Value {
        var request = HTTPClientRequest(url: address + path)
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let data = try await Data(response.body.collect(upTo: 1 << 25).readableBytesView)
        guard response.status.code == 200 else {
            let problem = try JSONDecoder().decode(Answer<Problem>.self, from: data).value
            throw Failure(description: "\(path): \(problem.error): \(problem.message.prefix(300))")
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
