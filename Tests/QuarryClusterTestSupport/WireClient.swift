public import QuarryClusterWire

/// A client that sends requests one by one: for tests of the emulation, and for a second client in tests of the first.
///
/// It blocks its thread for as long as a node takes to answer, and at most for two minutes. One thread uses it at a
/// time.
public final class WireClient {
    /// The node has ended the connection, or doesn't answer.
    public struct ConnectionEnded: Error {
        init() {}
    }

    /// A response of another kind than expected.
    public struct UnexpectedResponse: Error {
        /// The response.
        public let response: Response
    }

    /// A failure that the node has answered.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The code.
        public let code: UInt64

        /// The message.
        public let message: String

        /// Both, such as "5: database is locked".
        public var description: String { "\(code): \(message)" }

        /// A failure.
        public init(code: UInt64, message: String) {
            self.code = code
            self.message = message
        }
    }

    private let socket: Socket
    private var decoder = FrameDecoder()

    /// Connects to "127.0.0.1:port", sends the protocol's version, and opens the database.
    ///
    /// - throws: `SystemError` if the node refuses the connection.
    public init(_ address: String, opens: Bool = true) throws {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw ConnectionEnded() }
        socket = try Socket()
        try socket.connect(port: port)
        socket.setReceiveTimeout(seconds: 120)
        var bytes: [UInt8] = []
        Handshake.encode(into: &bytes)
        try sendBytes(bytes)
        if opens {
            _ = try call(.client(id: 1))
            _ = try call(.open(name: "app"))
        }
    }

    /// Ends the connection.
    public func close() { socket.close() }

    /// Sends requests at once, and waits for nothing.
    public func send(_ requests: Request...) throws {
        var bytes: [UInt8] = []
        for request in requests { try request.encode(into: &bytes) }
        try sendBytes(bytes)
    }

    /// Sends bytes, which needn't be a request.
    public func sendBytes(_ bytes: [UInt8]) throws {
        guard socket.send(bytes) else { throw ConnectionEnded() }
    }

    /// The next response, which may be a failure.
    ///
    /// - throws: `ConnectionEnded` or `WireError`.
    public func receive() throws -> Response { try Response(decoding: receiveFrame()) }

    /// Sends a request, and returns its response.
    ///
    /// - throws: `Failure` if that is one.
    @discardableResult
    public func call(_ request: Request) throws -> Response {
        try send(request)
        let response = try receive()
        if case .failure(let code, let message) = response { throw Failure(code: code, message: message) }
        return response
    }

    /// Runs the statements of a text.
    @discardableResult
    public func execute(_ sql: String, _ arguments: WireValue...) throws -> Response {
        try call(.executeSQL(database: 0, sql: sql, arguments: arguments))
    }

    /// All rows of a query.
    public func query(_ sql: String, _ arguments: WireValue...) throws -> [[WireValue]] {
        try send(.querySQL(database: 0, sql: sql, arguments: arguments))
        return try receiveRows()
    }

    /// Receives a page of a query.
    ///
    /// - throws: `Failure` if the node answers one.
    public func receivePage() throws -> RowPage {
        switch try receive() {
        case .rows(let page): return page
        case .failure(let code, let message): throw Failure(code: code, message: message)
        case let response: throw UnexpectedResponse(response: response)
        }
    }

    /// Receives the pages of a query until the last one.
    public func receiveRows() throws -> [[WireValue]] {
        var rows: [[WireValue]] = []
        while true {
            let page = try receivePage()
            rows += try page.rows
            if !page.hasMore { return rows }
        }
    }

    /// The bytes that arrive until the connection ends.
    public func receiveRest() -> [UInt8] {
        var bytes: [UInt8] = []
        while let received = socket.receive() { bytes += received }
        return bytes
    }

    private func receiveFrame() throws -> Frame {
        while true {
            if let frame = try decoder.next() { return frame }
            // No byte of the next frame: `receiveRest()` returns them all.
            let missing = try decoder.missingByteCount()
            guard let received = socket.receive(atMost: missing) else { throw ConnectionEnded() }
            decoder.append(received)
        }
    }
}

extension RowPage {
    /// All rows.
    public var rows: [[WireValue]] {
        get throws {
            var reader = makeReader()
            var rows: [[WireValue]] = []
            while try reader.next() { rows.append(try reader.cells.map { try value(of: $0) }) }
            return rows
        }
    }
}
