import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A request of HTTP/1.1 whose answer is read line by line, as it comes.
struct LineRequest: Sendable {
    let port: Int
    /// The whole request.
    let text: String

    init(url: String, method: String, path: String, body: String = "") {
        port = Int(url.split(separator: ":").last ?? "") ?? 80
        text = """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Connection: close\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
    }

    /// Calls `each` with the lines of the answer until it returns false, or the server closes the connection. Lines of
    /// the chunked encoding are among them.
    func run(each: (Substring) throws -> Bool) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var rest = ""
            for try await buffer in inbound {
                rest += String(buffer: buffer)
                guard let end = rest.utf8.lastIndex(of: UInt8(ascii: "\n")) else { continue }
                for line in rest[...end].split(whereSeparator: \.isNewline) where try !each(line) { return }
                rest = String(rest[rest.utf8.index(after: end)...])
            }
        }
    }
}

/// A control file that is sent to `POST /imports`.
struct ImportRequest {
    let url: String
    let source: String
    let text: String

    /// - throws: an error with the answer, unless its last event is `done`.
    func run() async throws {
        var lines: [Substring] = []
        try await LineRequest(url: url, method: "POST", path: "/imports?source=\(source)", body: text).run { line in
            lines.append(line)
            return !line.hasPrefix("event: done") && !line.hasPrefix("event: failed")
        }
        guard lines.last == "event: done" else {
            throw Server.Failure(description: "the import failed: \(lines.suffix(5).joined(separator: " "))")
        }
    }
}

/// Many clients of `GET /events` while a control file is imported, and others that read.
struct EventLoad {
    let url: String
    let clientCount: Int
    let packageCount: Int
    /// The time in which all streams must open.
    var openingTime = Duration.seconds(30)

    private struct Received {
        var opened = 0
        var closedByServer = 0
        /// The first line of an answer that is no stream, or the error of a connection.
        var failure: String?
        var events: [Int]
        /// By the number of the commit: how many clients have its event, when the first had it, and the last one.
        var commits: [Int: (count: Int, first: ContinuousClock.Instant, last: ContinuousClock.Instant)] = [:]
    }

    private final class Tally: Sendable {
        private let received: Mutex<Received>

        init(clientCount: Int) { received = Mutex(Received(events: Array(repeating: 0, count: clientCount))) }

        func withLock<Value: Sendable>(_ body: (inout Received) -> Value) -> Value {
            received.withLock { body(&$0) }
        }
    }

    /// - throws: `Server.Failure` if a stream can't be opened, or is closed by the server, or if a read fails.
    func run() async throws -> String {
        let received = Tally(clientCount: clientCount)
        let clock = ContinuousClock()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clientCount {
                group.addTask { await read(as: client, received) }
            }
            try await waitForStreams(received)
            let text = ControlText.packages(packageCount, version: 2)
            let start = clock.now
            async let importing: Void = ImportRequest(url: url, source: "list-2", text: text).run()
            async let reads = Wrk(
                url: url, script: Wrk.get(#""/packages/package-" .. math.random(0, \#(packageCount - 1))"#)
            ).run(connections: 8, seconds: 5)
            try await importing
            let importTime = clock.now - start
            let figures = try await reads
            guard figures.failureCount == 0 else {
                throw Server.Failure(description: "\(figures.failureCount) requests failed during the import")
            }
            // The last commits are on their way.
            try await Task.sleep(for: .seconds(1))
            group.cancelAll()
            try await group.waitForAll()
            let closed = received.withLock { ($0.closedByServer, $0.failure) }
            guard closed == (0, nil) else {
                throw Server.Failure(description: "\(closed.0) streams were closed: \(closed.1 ?? "by the server")")
            }
            return received.withLock { received in
                let complete = received.commits.values.filter { $0.count == clientCount }
                let spreads: [Duration] = complete.isEmpty ? [.zero] : complete.map { $0.last - $0.first }.sorted()
                let events = received.events.sorted()
                return """
                    \(clientCount) clients of /events, while \(packageCount) packages are imported in \(importTime.short): \
                    \(events.first ?? 0) to \(events.last ?? 0) events each, none closed by the server. Of \(received.commits.count) events of commits, \(complete.count) reached all clients; from \
                    the first client to the last, \(spreads[spreads.count / 2].short) in the median, \
                    \(spreads[spreads.count - 1].short) at most. Details on 8 connections meanwhile: \(figures).
                    """
            }
        }
    }

    private func waitForStreams(_ received: Tally) async throws {
        let end = ContinuousClock.now + openingTime
        while true {
            let (opened, closed, failure) = received.withLock { ($0.opened, $0.closedByServer, $0.failure) }
            if closed > 0 {
                let reason = failure ?? "closed by the server"
                throw Server.Failure(description: "\(closed) of \(clientCount) streams did not open: \(reason)")
            }
            if opened == clientCount { return }
            guard ContinuousClock.now < end else {
                let time = openingTime.short
                throw Server.Failure(description: "\(opened) of \(clientCount) streams have opened in \(time)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func read(as client: Int, _ received: Tally) async {
        let request = LineRequest(url: url, method: "GET", path: "/events")
        var (isOpen, isCommit) = (false, false)
        var failure: String?
        do {
            try await request.run { line in
                let now = ContinuousClock.now
                if line.hasPrefix("HTTP/1.1 "), !line.hasPrefix("HTTP/1.1 200 ") {
                    failure = String(line)
                    return false
                }
                if line.hasPrefix("event: ") {
                    received.withLock { received in
                        received.events[client] += 1
                        if !isOpen { received.opened += 1 }
                    }
                    isOpen = true
                    isCommit = line == "event: commit"
                } else if isCommit, let number = line.firstMatch(of: /"number":(\d+)/).flatMap({ Int($0.1) }) {
                    received.withLock { received in
                        let known = received.commits[number] ?? (0, now, now)
                        received.commits[number] = (known.count + 1, min(known.first, now), max(known.last, now))
                    }
                    isCommit = false
                }
                return true
            }
        } catch {
            failure = "\(error)"
        }
        guard !Task.isCancelled else { return }
        received.withLock { [failure] received in
            received.closedByServer += 1
            if received.failure == nil { received.failure = failure }
        }
    }
}
