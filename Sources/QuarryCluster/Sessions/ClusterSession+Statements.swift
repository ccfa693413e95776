import QuarryClusterWire
import QuarryCore

extension ClusterSession {
    // MARK: - Queries and changes

    func query(
        _ sql: String, _ arguments: [DatabaseValue], isReadonly: Bool, _ call: RemoteCall
    ) throws(DatabaseError) -> any RemoteRows {
        let arguments = try wireValues(arguments, sql: sql)
        try checkTransaction(call)
        if isReadonly, transaction != .open { return try beginAndQuery(sql, arguments, call) }
        if transaction == .none {
            // A node aborts after a change with RETURNING outside a transaction.
            return try inOwnTransaction(call) { () throws(DatabaseError) in
                let rows = try queryInTransaction(sql, arguments, isReadonly: false, call)
                rows.readAhead()
                return rows
            }
        }
        try beginIfPending(call)
        return try queryInTransaction(sql, arguments, isReadonly: isReadonly, call)
    }

    func execute(
        _ sql: String, _ arguments: [DatabaseValue], _ call: RemoteCall
    ) throws(DatabaseError) -> RemoteResult {
        let arguments = try wireValues(arguments, sql: sql)
        try checkTransaction(call)
        guard transaction != .none else {
            return try inOwnTransaction(call) { () throws(DatabaseError) in
                try executeInTransaction(sql, arguments, call)
            }
        }
        try beginIfPending(call)
        return try executeInTransaction(sql, arguments, call)
    }

    func run(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        try checkTransaction(call)
        let kind = sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
        let isSetting = kind == "PRAGMA" || ["SAVEPOINT", "RELEASE", "ROLLBACK"].contains(kind)
        if transaction == .none, !isSetting {
            return try inOwnTransaction(call) { () throws(DatabaseError) in try changeSchema(sql, call) }
        }
        try beginIfPending(call)
        if isSetting {
            try runInTransaction(sql, call)
            if kind == "ROLLBACK", hasChangedSchema { schemaDidChange() }
            return
        }
        try changeSchema(sql, call)
    }

    private func changeSchema(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        (hasWritten, hasChangedSchema) = (true, true)
        // The journal may be the table that is dropped.
        identifierOfTransaction = nil
        try runInTransaction(sql, call)
        schemaDidChange()
    }

    /// Notes that the open transaction changes something. A statement on the journal may remove the identifier, so
    /// COMMIT needs another one.
    private func willChange(_ sql: String) {
        hasWritten = true
        if identifierOfTransaction != nil, CommitIdentifier.isMentioned(in: sql) { identifierOfTransaction = nil }
    }

    /// Runs a text without arguments, whose result isn't needed.
    func runInTransaction(_ sql: String, _ call: RemoteCall) throws(DatabaseError) {
        let link = try usableLink(call)
        do throws(LinkError) {
            let limit = limit(call)
            try send([.executeSQL(database: databaseID, sql: sql, arguments: [])], by: link, until: limit)
            try LeaderAnswer.expectResult(try receive(by: link, until: limit), link)
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    func queryInTransaction(
        _ sql: String, _ arguments: [WireValue], isReadonly: Bool, _ call: RemoteCall
    ) throws(DatabaseError) -> SessionRows {
        let link = try usableLink(call)
        if !isReadonly { willChange(sql) }
        do throws(LinkError) {
            let limit = limit(call)
            var (requests, behind) = requests(sql, arguments, returnsRows: true)
            if !isReadonly {
                requests.append(
                    .querySQL(database: databaseID, sql: "SELECT last_insert_rowid(), changes()", arguments: []))
            }
            try send(requests, by: link, until: limit)
            let response = try receive(by: link, until: limit)
            // The answers of a failed statement's followers come all the same.
            owed += behind
            if !isReadonly, case .failure = response { owed.append(.ignored) }
            let rows = try self.rows(response, link)
            guard !isReadonly else { return rows }
            rows.readAhead()
            if case .rows(let page) = try receive(by: link, until: limit) {
                try link.expect(page, columnCount: 2)
                var reader = page.makeReader()
                if (try? reader.next()) == true {
                    lastInsertedRowID = reader.cells[0].integer
                    changes.add(Int(reader.cells[1].integer))
                }
            }
            return rows
        } catch {
            throw failure(error, of: link, mayHaveEnded: !isReadonly)
        }
    }

    func executeInTransaction(
        _ sql: String, _ arguments: [WireValue], _ call: RemoteCall
    ) throws(DatabaseError) -> RemoteResult {
        let link = try usableLink(call)
        willChange(sql)
        do throws(LinkError) {
            let limit = limit(call)
            let (requests, behind) = requests(sql, arguments, returnsRows: false)
            try send(requests, by: link, until: limit)
            let response = try receive(by: link, until: limit)
            owed += behind
            let result = try LeaderAnswer.result(response, link)
            lastInsertedRowID = result.lastInsertedRowID
            return result
        } catch {
            throw failure(error, of: link, mayHaveEnded: true)
        }
    }

    /// The requests that run a statement, and the answers that follow its own.
    func requests(
        _ sql: String, _ arguments: [WireValue], returnsRows: Bool
    ) -> (requests: [Request], behind: [Owed]) {
        let database = databaseID
        let text: Request =
            returnsRows
            ? .querySQL(database: database, sql: sql, arguments: arguments)
            : .executeSQL(database: database, sql: sql, arguments: arguments)
        switch prepared.formOfNextRun(of: sql) {
        case .text: return ([text], [])
        case .textThenPrepare:
            let excess = prepared.removeExcess()
            return (
                [text, .prepare(database: database, sql: sql)]
                    + excess.map { .finalize(database: database, statement: $0) },
                [.prepared(sql)] + excess.map { _ in .finalized }
            )
        case .prepared(let id):
            return (
                [
                    returnsRows
                        ? .query(database: database, statement: id, arguments: arguments)
                        : .execute(database: database, statement: id, arguments: arguments)
                ], []
            )
        }
    }

    func rows(_ response: Response, _ link: NodeLink) throws(LinkError) -> SessionRows {
        switch response {
        case .rows(let page):
            do {
                let rows = try SessionRows(page, self)
                if rows.isStreaming { streaming = rows }
                return rows
            } catch {
                throw link.violation("\(error)")
            }
        case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
        default: throw link.violation("it responded to a query with \(response.name).")
        }
    }

    // MARK: - The schema

    func learnSchemaVersion(_ call: RemoteCall) throws(DatabaseError) {
        try checkTransaction(call)
        if transaction == .open, knowsVersionOfTransaction { return }
        if case .pending = transaction { return try beginIfPending(call) }
        try askForVersion(call)
    }

    private func askForVersion(_ call: RemoteCall) throws(DatabaseError) {
        if transaction == .open {
            let link = try usableLink(call)
            do throws(LinkError) {
                try askForVersion(link, until: limit(call))
            } catch {
                throw failure(error, of: link)
            }
        } else {
            try beginning(call) { link, limit throws(LinkError) in try askForVersion(link, until: limit) }
        }
    }

    private func askForVersion(_ link: NodeLink, until limit: UInt64) throws(LinkError) {
        try send(
            [.querySQL(database: databaseID, sql: "PRAGMA schema_version", arguments: [])], by: link, until: limit)
        if try takeVersion(try receive(by: link, until: limit), link) { try refreshNode(link, until: limit) }
    }

    func schema(_ call: RemoteCall) throws(DatabaseError) -> [RemoteSchemaEntry] {
        let rows = try query(
            """
            SELECT type, name, sql FROM sqlite_schema \
            WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
            """, [], isReadonly: true, call)
        defer { rows.close() }
        guard rows.columnCount == 3 else {
            let reason = "the rows of the schema have \(rows.columnCount) columns rather than 3"
            fail(reason)
            throw DatabaseError(resultCode: .SQLITE_PROTOCOL, message: reason)
        }
        var entries: [RemoteSchemaEntry] = []
        while try rows.next() {
            var texts: [String] = []
            for column in 0..<3 {
                rows.withValue(column) { value in
                    if case .text(let bytes) = value { texts.append(String(decoding: bytes, as: UTF8.self)) }
                }
            }
            guard texts.count == 3, let kind = RemoteSchemaEntry.Kind(rawValue: texts[0]) else { continue }
            entries.append(RemoteSchemaEntry(kind: kind, name: texts[1], sql: texts[2]))
        }
        return entries
    }

    func setForeignKeys(on isOn: Bool, _ call: RemoteCall) throws(DatabaseError) {
        guard isOn != checksForeignKeys else { return }
        guard !call.isInsideTransaction else {
            throw DatabaseError.misuse(
                """
                foreign keys can't be turned \(isOn ? "on" : "off") inside a transaction of a cluster, as rebuilding \
                a table would: a DatabaseMigrator turns them off before its transactions
                """)
        }
        try checkTransaction(call)
        // A later link is told, too.
        checksForeignKeys = isOn
        guard let link, !link.isDead else { return }
        do throws(LinkError) {
            try send(
                [
                    .executeSQL(
                        database: databaseID, sql: "PRAGMA foreign_keys = \(isOn ? "ON" : "OFF")", arguments: [])
                ], by: link, until: limit(call))
            try LeaderAnswer.expectResult(try receive(by: link, until: limit(call)), link)
        } catch {
            // The next link is told.
            didLose(link, error)
        }
    }

    // MARK: - Values

    private func wireValues(_ values: [DatabaseValue], sql: String) throws(DatabaseError) -> [WireValue] {
        guard !sql.utf8.contains(0) else {
            throw DatabaseError.misuse("SQL has a NUL character", sql: sql)
        }
        var result: [WireValue] = []
        result.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            switch value.rawStorage {
            case .null: result.append(.null)
            case .int64(let number): result.append(.integer(number))
            case .double(let number): result.append(.float(number))
            case .blob(let bytes): result.append(.blob(bytes))
            case .string(let text):
                guard !text.utf8.contains(0) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_MISMATCH,
                        message: """
                            argument \(index + 1) has a NUL character, where a node would cut the text: store a blob
                            """, sql: sql)
                }
                result.append(.text(text))
            }
        }
        return result
    }
}

/// The effect of a remote statement that returns no rows.
struct RemoteResult: Sendable {
    var lastInsertedRowID: Int64
    var changesCount: Int
}

/// The answers of a leader that are checked alike everywhere.
enum LeaderAnswer {
    static func result(_ response: Response, _ link: NodeLink) throws(LinkError) -> RemoteResult {
        switch response {
        case .result(let rowID, let count):
            return RemoteResult(lastInsertedRowID: rowID, changesCount: Int(clamping: count))
        case .failure(let code, let message): throw .failed(link.address, code: code, message: message)
        default: throw link.violation("it responded to a statement with \(response.name).")
        }
    }

    static func expectResult(_ response: Response, _ link: NodeLink) throws(LinkError) {
        _ = try result(response, link)
    }
}
