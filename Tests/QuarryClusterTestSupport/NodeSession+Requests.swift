internal import QuarryClusterWire

/// The result of a request.
enum Reply {
    case response(Response)
    /// A page of rows.
    case page(body: [UInt8], hasMore: Bool)
    /// The node aborts, behind an answer or without one.
    case aborted(reason: String, answer: StatementFailure?)
    /// The session has ended meanwhile.
    case ended

    var isSent: Bool {
        if case .ended = self { false } else { true }
    }

    var hasMore: Bool {
        if case .page(_, let hasMore) = self { hasMore } else { false }
    }

    /// The frame.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .response(.failure(let code, let message)):
            // A message ends at its NUL.
            let cut = message.prefix { $0 != "\0" }
            try? Response.failure(code: code, message: String(cut)).encode(into: &bytes)
        case .response(let response): try? response.encode(into: &bytes)
        case .page(let body, _):
            let header = FrameHeader(wordCount: UInt32(body.count / 8), type: 7).word
            withUnsafeBytes(of: header.littleEndian) { bytes.append(contentsOf: $0) }
            bytes += body
        case .aborted, .ended: break
        }
        return bytes
    }
}

extension NodeSession {
    /// Executes a request.
    func perform(_ request: Request) -> Reply {
        switch request {
        case .leader: .response(leader)
        case .client: .response(.welcome(heartbeatTimeout: 15_000))
        case .cluster: .response(.servers(core.members))
        case .interrupt: .response(.empty)
        case .add, .assign, .remove, .dump, .transfer, .describe, .weight:
            .response(.failure(code: 1005, message: "the emulation has no such request"))
        case .open, .prepare, .finalize, .execute, .query, .executeSQL, .querySQL:
            replying { try executeSQLRequest(request) }
        }
    }

    /// The next page of the running query.
    func nextPage() -> Reply {
        replying {
            // The end of the leadership has ended the query.
            guard let query, let database else { throw StatementFailure.notLeader }
            return try page(of: query, in: database)
        }
    }

    /// Ends the running query before its last page.
    func endQuery() {
        core.execute {
            if let query { database?.end(query) }
            query = nil
        }
    }

    private func replying(_ body: () throws -> Reply) -> Reply {
        core.execute {
            if core.standing(of: self) == .ended { return .ended }
            do {
                return try body()
            } catch let failure as StatementFailure {
                return .response(.failure(code: failure.code, message: failure.message))
            } catch let abort as NodeAbort {
                return .aborted(reason: abort.reason, answer: abort.answer)
            } catch {
                return .response(.failure(code: 1, message: "\(error)"))
            }
        }
    }

    private var leader: Response {
        guard let leader = core.state.withLock({ $0.leader }) else { return .server(id: 0, address: "") }
        return .server(id: UInt64(leader + 1), address: core.addresses[leader])
    }

    private func executeSQLRequest(_ request: Request) throws -> Reply {
        switch request {
        case .open:
            guard database == nil else { throw StatementFailure.alreadyOpen }
            database = try SessionDatabase(path: core.file.path)
            return .response(.database(id: 0))
        case .prepare(let id, let sql):
            let (statementID, statement) = try openDatabase(id).prepare(sql)
            note(sql, of: statementID)
            let count = UInt64(statement.parameterCount)
            return .response(.statement(database: id, id: statementID, parameterCount: count))
        case .finalize(let id, let statement):
            try openDatabase(id).finalize(statement)
            note(nil, of: statement)
            return .response(.empty)
        case .execute(let id, let statement, let arguments):
            let database = try leadingDatabase(id)
            return .response(try database.execute(database.statement(statement), arguments))
        case .executeSQL(let id, let sql, let arguments):
            return .response(try leadingDatabase(id).execute(sql, arguments))
        case .query(let id, let statement, let arguments):
            let database = try leadingDatabase(id)
            return try page(of: database.query(database.statement(statement), arguments), in: database)
        case .querySQL(let id, let sql, let arguments):
            let database = try leadingDatabase(id)
            return try page(of: database.query(sql, arguments), in: database)
        default: throw StatementFailure.noDatabase
        }
    }

    private func page(of query: PageWriter, in database: SessionDatabase) throws -> Reply {
        self.query = nil
        let page = try database.nextPage(of: query)
        if page.hasMore { self.query = query }
        return .page(body: page.body, hasMore: page.hasMore)
    }

    private func openDatabase(_ id: UInt32) throws(StatementFailure) -> SessionDatabase {
        guard id == 0, let database else { throw .noDatabase }
        return database
    }

    /// The database, if the node leads: of the requests with SQL, PREPARE and FINALIZE alone are answered by others.
    private func leadingDatabase(_ id: UInt32) throws(StatementFailure) -> SessionDatabase {
        guard core.standing(of: self) == .leads else { throw .notLeader }
        return try openDatabase(id)
    }
}

extension ClusterCore {
    /// The members, all of which vote. A dead node remains one.
    fileprivate var members: [ClusterMember] {
        addresses.enumerated().map { ClusterMember(id: UInt64($0 + 1), address: $1, role: .voter) }
    }
}
