extension Request {
    /// Decodes a frame that a client sent: for programs in a node's place, such as a proxy or a test.
    public init(decoding frame: Frame) throws(WireError) {
        guard let code = RequestCode(rawValue: frame.type) else {
            throw WireError(.unknownCode, "\(frame.type) is the type of no request.")
        }
        guard frame.schema == 0 else {
            throw WireError(.unknownCode, "\(code.name): schema \(frame.schema) is unknown; 0 is the only one.")
        }
        var reader = BodyReader(frame.body, of: code.name)
        self = try Request.read(code, from: &reader)
        try reader.end()
    }

    private static func read(_ code: RequestCode, from reader: inout BodyReader) throws(WireError) -> Request {
        switch code {
        case .leader:
            _ = try reader.word("unused")
            return .leader
        case .client: return .client(id: try reader.word("id"))
        case .open:
            let name = try reader.text("name")
            _ = try reader.word("flags")
            _ = try reader.text("vfs")
            return .open(name: name)
        case .prepare: return .prepare(database: try reader.half("database"), sql: try reader.text("sql"))
        case .execute:
            let (database, statement) = try reader.halves("database and statement")
            return .execute(database: database, statement: statement, arguments: try reader.tuple())
        case .query:
            let (database, statement) = try reader.halves("database and statement")
            return .query(database: database, statement: statement, arguments: try reader.tuple())
        case .finalize:
            let (database, statement) = try reader.halves("database and statement")
            return .finalize(database: database, statement: statement)
        case .executeSQL:
            return .executeSQL(
                database: try reader.half("database"), sql: try reader.text("sql"), arguments: try reader.tuple())
        case .querySQL:
            return .querySQL(
                database: try reader.half("database"), sql: try reader.text("sql"), arguments: try reader.tuple())
        case .interrupt: return .interrupt(database: try reader.half("database"))
        case .add: return .add(id: try reader.word("id"), address: try reader.text("address"))
        case .assign: return .assign(id: try reader.word("id"), role: try reader.role())
        case .remove: return .remove(id: try reader.word("id"))
        case .dump: return .dump(name: try reader.text("name"))
        case .cluster:
            try reader.format(Request.clusterFormat)
            return .cluster
        case .transfer: return .transfer(id: try reader.word("id"))
        case .describe:
            try reader.format(Request.describeFormat)
            return .describe
        case .weight: return .weight(try reader.word("weight"))
        }
    }
}

extension BodyReader {
    /// A word that holds a number of 32 bits.
    mutating func half(_ field: StaticString) throws(WireError) -> UInt32 {
        let word = try word(field)
        guard let half = UInt32(exactly: word) else {
            throw WireError(.wrongCount, "\(message): \"\(field)\" is \(word), more than \(UInt32.max).")
        }
        return half
    }

    mutating func role() throws(WireError) -> NodeRole {
        let word = try word("role")
        guard let role = NodeRole(rawValue: word) else {
            throw WireError(.unknownCode, "\(message): \(word) is the number of no role.")
        }
        return role
    }

    /// The version of a message, which has to be the given one.
    mutating func format(_ expected: UInt64) throws(WireError) {
        let format = try word("format")
        guard format == expected else {
            throw WireError(.unknownCode, "\(message): format \(format) is unknown; \(expected) is the only one.")
        }
    }
}
