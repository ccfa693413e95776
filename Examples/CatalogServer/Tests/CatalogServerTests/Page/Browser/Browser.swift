import Foundation
import Testing

/// A page in headless Chromium.
struct Browser: Sendable {
    /// Whether this machine has Chromium and its driver.
    static let isInstalled =
        RunningProgram.path(of: "chromium") != nil && RunningProgram.path(of: "chromedriver") != nil
    static let missing: Comment = "no Chromium on this machine: `make test-page` installs chromium and chromium-driver"

    private struct Element: Decodable {
        var id: String

        private enum CodingKeys: String, CodingKey {
            // https://www.w3.org/TR/webdriver2/#elements
            case id = "element-6066-11e4-a52e-4f735466cecf"
        }
    }

    private struct LogEntry: Decodable {
        var level, message: String
    }

    /// Keys that have no character: <https://www.w3.org/TR/webdriver2/#keyboard-actions>.
    enum Key: String {
        case enter = "\u{E007}"
        case escape = "\u{E00C}"
        case up = "\u{E013}"
        case down = "\u{E015}"
        case tab = "\u{E004}"
        case backspace = "\u{E003}"
        case slash = "/"
    }

    let driver: WebDriver
    /// That of the server.
    let address: String

    /// Runs a browser of its own, without cookies and cache of another.
    static func run(at address: String, _ body: (Browser) async throws -> Void) async throws {
        let (program, port) = try await startDriver()
        let result: Result<Void, any Error>
        do {
            result = .success(try await use(port, at: address, body))
        } catch {
            result = .failure(error)
        }
        program.terminate()
        _ = await program.status()
        try result.get()
    }

    private struct DriverDoesNotStart: Error {}

    /// A driver, and its port. A driver that ends before it has one is started again: several may choose the same.
    private static func startDriver() async throws -> (RunningProgram, port: Int) {
        let path = try #require(RunningProgram.path(of: "chromedriver"))
        for _ in 0..<5 {
            let program = try RunningProgram(path, ["--port=0"])
            for await line in program.lines {
                guard let match = line.firstMatch(of: /started successfully on port (\d+)/), let port = Int(match.1)
                else { continue }
                return (program, port)
            }
            program.terminate()
            _ = await program.status()
        }
        throw DriverDoesNotStart()
    }

    private static func use(
        _ port: Int, at address: String, _ body: (Browser) async throws -> Void
    ) async throws {
        let driver = try await WebDriver(port: port)
        do {
            try await body(Browser(driver: driver, address: address))
        } catch {
            try await driver.close()
            throw error
        }
        try await driver.close()
    }

    /// Loads a page.
    func open(_ path: String) async throws { try await driver.post("/url", #"{"url": \#((address + path).json)}"#) }

    func back() async throws { try await driver.post("/back") }

    /// The value of an expression of JavaScript.
    func value<Value: Decodable>(_ expression: String, as type: Value.Type = Value.self) async throws -> Value {
        try await driver.post("/execute/sync", script("return (\(expression));"), as: type)
    }

    func text(_ selector: String) async throws -> String {
        try await value("document.querySelector(\(selector.json)).textContent.trim()")
    }

    /// Waits until an expression of JavaScript holds: looks again at each change of the document or of the focus.
    func wait(until expression: String) async throws {
        let body = """
            const done = arguments[arguments.length - 1];
            const holds = () => { try { return Boolean(\(expression)); } catch { return false; } };
            const end = () => { observer.disconnect(); removeEventListener("focusin", look, true); done(true); };
            const look = () => { if (holds()) end(); };
            const observer = new MutationObserver(look);
            observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
            addEventListener("focusin", look, true);
            look();
            """
        do {
            _ = try await driver.post("/execute/async", script(body), as: Bool.self)
        } catch let failure as WebDriver.Failure {
            let page: String = try await value("document.body.innerText.slice(0, 600)")
            throw WebDriver.Failure(description: "never: \(expression)\n\(failure)\nThe page:\n\(page)")
        }
    }

    /// Waits until an expression of JavaScript holds on this page or on one that a link or a form leads to: asks again
    /// and again, since a click may return before the next page is shown, and a page without scripts has no observers.
    func wait(acrossPagesUntil expression: String) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            var failure: WebDriver.Failure?
            do {
                if try await value("Boolean(\(expression))", as: Bool.self) { return }
            } catch let error as WebDriver.Failure {
                // The page of the question is gone, or the next one isn't whole.
                failure = error
            }
            if ContinuousClock.now > end {
                let address: String = try await value("location.href")
                throw WebDriver.Failure(
                    description: "never: \(expression)\n\(failure?.description ?? "")\nat \(address)")
            }
        }
    }

    /// Types at the element that has the focus.
    func type(_ text: String) async throws {
        let actions = text.map(String.init).flatMap { key in
            ["keyDown", "keyUp"].map { #"{"type": "\#($0)", "value": \#(key.json)}"# }
        }
        try await driver.post(
            "/actions",
            #"{"actions": [{"type": "key", "id": "keyboard", "actions": [\#(actions.joined(separator: ", "))]}]}"#)
    }

    func press(_ key: Key) async throws { try await type(key.rawValue) }

    /// Clicks as a mouse does: the element must be visible.
    func click(_ selector: String) async throws {
        try await driver.post("/element/\(find(selector))/click")
    }

    /// Types at an element; the path of a file, if it chooses files.
    func send(_ text: String, to selector: String) async throws {
        try await driver.post("/element/\(find(selector))/value", #"{"text": \#(text.json)}"#)
    }

    private func find(_ selector: String) async throws -> String {
        try await driver.post(
            "/element", #"{"using": "css selector", "value": \#(selector.json)}"#, as: Element.self
        ).id
    }

    /// Sets a feature of the media, such as `prefers-color-scheme`.
    func emulate(_ feature: String, _ value: String) async throws {
        try await driver.devTools(
            "Emulation.setEmulatedMedia", #"{"features": [{"name": "\#(feature)", "value": "\#(value)"}]}"#)
    }

    func resize(width: Int, height: Int, isMobile: Bool = false) async throws {
        try await driver.devTools(
            "Emulation.setDeviceMetricsOverride",
            #"{"width": \#(width), "height": \#(height), "deviceScaleFactor": 1, "mobile": \#(isMobile)}"#)
    }

    func screenshot() async throws -> Data {
        try #require(Data(base64Encoded: await driver.get("/screenshot", as: String.self)))
    }

    /// The messages of the console since the last call: errors of scripts, refused contents, failed requests.
    func consoleMessages() async throws -> [String] {
        try await driver.post("/se/log", #"{"type": "browser"}"#, as: [LogEntry].self).map {
            "\($0.level) \($0.message)"
        }
    }

    private func script(_ text: String) -> String { #"{"script": \#(text.json), "args": []}"# }
}
