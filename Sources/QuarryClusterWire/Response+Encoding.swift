extension Response {
    /// Appends the response to bytes: for programs in a node's place. If it throws, the bytes are as before.
    public func encode(into bytes: inout [UInt8]) throws(WireError) {
        try BodyWriter.append(code.name, type: code.rawValue, to: &bytes) { writer throws(WireError) in
            try write(to: &writer)
        }
    }

    private func write(to writer: inout BodyWriter) throws(WireError) {
        switch self {
        case .failure(let code, let message):
            writer.word(code)
            try writer.text(message, "message")
        case .server(let id, let address):
            writer.word(id)
            try writer.text(address, "address")
        case .welcome(let timeout): writer.word(timeout)
        case .servers(let members):
            writer.word(UInt64(members.count))
            for member in members {
                writer.word(member.id)
                try writer.text(member.address, "address")
                writer.word(member.role.rawValue)
            }
        case .database(let id): writer.halves(id, 0)
        case .statement(let database, let id, let parameterCount):
            writer.halves(database, id)
            writer.word(parameterCount)
        case .result(let rowID, let changes):
            writer.word(UInt64(bitPattern: rowID))
            writer.word(changes)
        case .rows(let page): writer.words(page.body)
        case .empty: writer.word(0)
        case .files(let files):
            writer.word(UInt64(files.count))
            for file in files {
                try writer.text(file.name, "name")
                writer.blob(file.contents)
            }
        case .metadata(let failureDomain, let weight):
            writer.word(failureDomain)
            writer.word(weight)
        }
    }
}
