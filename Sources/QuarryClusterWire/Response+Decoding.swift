extension Response {
    /// Decodes a frame that a node sent.
    ///
    /// - throws: `WireError` if the frame isn't a response, with the message and the field concerned. The rows of a
    ///   page are checked when they are read.
    public init(decoding frame: Frame) throws(WireError) {
        guard let code = ResponseCode(rawValue: frame.type) else {
            throw WireError(.unknownCode, "\(frame.type) is the type of no response.")
        }
        guard frame.schema == 0 else {
            throw WireError(.unknownCode, "\(code.name): schema \(frame.schema) is unknown; 0 is the only one.")
        }
        if code == .rows {
            self = .rows(try RowPage(frame.body))
            return
        }
        let start = code == .failure ? Response.startOfFailure(frame.body) : 0
        var reader = BodyReader(frame.body, of: code.name, from: start)
        self = try Response.read(code, from: &reader)
        try reader.end()
    }

    /// The offset of a failure's code. A node of version 1.11.1 leaves the column names and the rows of the page at
    /// hand in front of the failure of a query that has begun.
    ///
    /// The message is the last text: its words have no NUL, but for the last word. The code before it is small.
    private static func startOfFailure(_ body: [UInt8]) -> Int {
        var offset = body.count - 16
        while offset > 0, !body[offset..<offset + 8].contains(0) { offset -= 8 }
        return max(0, offset)
    }

    private static func read(_ code: ResponseCode, from reader: inout BodyReader) throws(WireError) -> Response {
        switch code {
        case .failure:
            let code = try reader.word("code")
            let message = try reader.textRange("message")
            return .failure(code: code, message: String(decoding: reader.bytes[message], as: UTF8.self))
        case .server: return .server(id: try reader.word("id"), address: try reader.text("address"))
        case .welcome: return .welcome(heartbeatTimeout: try reader.word("heartbeat timeout"))
        case .servers: return .servers(try reader.members())
        case .database: return .database(id: try reader.halves("id").0)
        case .statement:
            let (database, id) = try reader.halves("database and id")
            return .statement(database: database, id: id, parameterCount: try reader.word("parameters"))
        case .result:
            return .result(
                lastInsertedRowID: Int64(bitPattern: try reader.word("last row id")),
                changesCount: try reader.word("changes"))
        case .rows: return .rows(try RowPage(reader.bytes))
        case .empty:
            _ = try reader.word("unused")
            return .empty
        case .files: return .files(try reader.files())
        case .metadata:
            return .metadata(failureDomain: try reader.word("failure domain"), weight: try reader.word("weight"))
        }
    }
}

extension BodyReader {
    fileprivate mutating func members() throws(WireError) -> [ClusterMember] {
        // A number, a text and a role: 3 words at least.
        let count = try count("members", minimumSize: 24)
        var members: [ClusterMember] = []
        members.reserveCapacity(count)
        for _ in 0..<count {
            members.append(ClusterMember(id: try word("id"), address: try text("address"), role: try role()))
        }
        return members
    }

    fileprivate mutating func files() throws(WireError) -> [DumpedFile] {
        let count = try count("files", minimumSize: 16)
        var files: [DumpedFile] = []
        files.reserveCapacity(count)
        for _ in 0..<count {
            files.append(DumpedFile(name: try text("name"), contents: bytes[try blobRange("contents")]))
        }
        return files
    }

    /// A number of things that have `minimumSize` bytes at least: the body has room for them.
    fileprivate mutating func count(_ field: StaticString, minimumSize: Int) throws(WireError) -> Int {
        let word = try word(field)
        guard word <= UInt64(remaining / minimumSize) else {
            throw WireError(
                .wrongCount, "\(message): \(word) \(field) are announced, and only \(remaining) bytes follow.")
        }
        return Int(word)
    }
}
