extension Request {
    /// Appends the request to bytes that may already contain others. If it throws, the bytes are as before.
    ///
    /// - throws: `WireError` if a text contains a NUL, if there are more than 255 arguments, or if the request has more
    ///   than 4,294,967,295 words.
    public func encode(into bytes: inout [UInt8]) throws(WireError) {
        try BodyWriter.append(code.name, type: code.rawValue, to: &bytes) { writer throws(WireError) in
            try write(to: &writer)
        }
    }

    private func write(to writer: inout BodyWriter) throws(WireError) {
        switch self {
        case .leader: writer.word(0)
        case .client(let id): writer.word(id)
        case .open(let name):
            try writer.text(name, "name")
            writer.word(Request.openFlags)
            try writer.text("", "vfs")
        case .prepare(let database, let sql):
            writer.word(UInt64(database))
            try writer.text(sql, "sql")
        case .execute(let database, let statement, let arguments), .query(let database, let statement, let arguments):
            writer.halves(database, statement)
            try writer.tuple(arguments)
        case .finalize(let database, let statement): writer.halves(database, statement)
        case .executeSQL(let database, let sql, let arguments), .querySQL(let database, let sql, let arguments):
            writer.word(UInt64(database))
            try writer.text(sql, "sql")
            try writer.tuple(arguments)
        case .interrupt(let database): writer.word(UInt64(database))
        case .add(let id, let address):
            writer.word(id)
            try writer.text(address, "address")
        case .assign(let id, let role):
            writer.word(id)
            writer.word(role.rawValue)
        case .remove(let id), .transfer(let id): writer.word(id)
        case .dump(let name): try writer.text(name, "name")
        case .cluster: writer.word(Request.clusterFormat)
        case .describe: writer.word(Request.describeFormat)
        case .weight(let weight): writer.word(weight)
        }
    }
}
