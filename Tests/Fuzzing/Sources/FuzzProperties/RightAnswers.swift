import QuarryClusterWire

/// A node's right answers on one connection, as far as `Sessions` asks.
struct RightAnswers {
    private var prepared: [String] = []

    private static let schema = [
        ("player", "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER)"),
        (
            "quarry_commit",
            """
            CREATE TABLE quarry_commit (id BLOB NOT NULL, time INTEGER NOT NULL, isFence INTEGER NOT NULL, \
            PRIMARY KEY (time, id)) STRICT, WITHOUT ROWID
            """
        ),
    ]

    mutating func answer(to request: Request, _ schemaVersion: Int64) -> [UInt8] {
        switch request {
        case .leader: Self.encoded(.server(id: 1, address: "127.0.0.1:9001"))
        case .client: Self.encoded(.welcome(heartbeatTimeout: 15_000))
        case .open: Self.encoded(.database(id: 0))
        case .cluster:
            Self.encoded(.servers([ClusterMember(id: 1, address: "127.0.0.1:9001", role: .voter)]))
        case .prepare(let database, let sql):
            prepare(sql, database)
        case .execute, .executeSQL: Self.encoded(.result(lastInsertedRowID: 7, changesCount: 1))
        case .query(_, let statement, _):
            Int(statement) < prepared.count ? rows(of: prepared[Int(statement)], schemaVersion) : Self.page([], [])
        case .querySQL(_, let sql, _): rows(of: sql, schemaVersion)
        default: Self.encoded(.empty)
        }
    }

    private mutating func prepare(_ sql: String, _ database: UInt32) -> [UInt8] {
        prepared.append(sql)
        let count = sql.utf8.count { $0 == UInt8(ascii: "?") }
        return Self.encoded(
            .statement(database: database, id: UInt32(prepared.count - 1), parameterCount: UInt64(count)))
    }

    private func rows(of sql: String, _ schemaVersion: Int64) -> [UInt8] {
        if sql == "PRAGMA schema_version" { return Self.page(["schema_version"], [[.integer(schemaVersion)]]) }
        if sql.contains("zeroblob") {
            return Self.page(["zeroblob(4096)"], [[.blob([UInt8](repeating: 0, count: 16))]])
        }
        if sql.contains("count(*)") { return Self.page(["count(*)"], [[.integer(2)]]) }
        // The tables of a schema, as `tableExists` asks for them.
        if sql.contains("sqlite_master") {
            let tables: [[WireValue]] = Self.schema.map { [.text("table"), .text($0.0)] }
            return Self.page(["type", "name"], sql.contains("temp") ? [] : tables)
        }
        if sql.contains("FROM sqlite_schema") {
            return Self.page(
                ["type", "name", "sql"], Self.schema.map { [.text("table"), .text($0.0), .text($0.1)] })
        }
        if sql.contains("last_insert_rowid") {
            return Self.page(["last_insert_rowid()", "changes()"], [[.integer(7), .integer(1)]])
        }
        if sql.contains("changes()") { return Self.page(["changes()"], [[.integer(0)]]) }
        if sql.contains("isFence") { return Self.page(["isFence"], [[.integer(0)]]) }
        if sql.contains("RETURNING") { return Self.page(["id"], [[.integer(7)]]) }
        let rows: [[WireValue]] = [
            [.integer(1), .text("Arthur"), .integer(5)], [.integer(2), .text("Barbara"), .null],
        ]
        return Self.page(["id", "name", "score"], Array(rows[..<1]), hasMore: true)
            + Self.page(["id", "name", "score"], Array(rows[1...]))
    }

    static func encoded(_ response: Response) -> [UInt8] {
        var bytes: [UInt8] = []
        // The texts have no NULs, so all of them can be encoded.
        try? response.encode(into: &bytes)
        return bytes
    }

    /// A ROWS message.
    private static func page(_ columns: [String], _ rows: [[WireValue]], hasMore: Bool = false) -> [UInt8] {
        var body: [UInt8] = []
        func append(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { body += $0 } }
        func fill() { while body.count % 8 != 0 { body.append(0) } }
        func append(_ text: String) {
            body += Array(text.utf8) + [0]
            fill()
        }
        append(UInt64(max(1, columns.count)))
        for column in columns.isEmpty ? ["none"] : columns { append(column) }
        for row in rows {
            // Four bits for the type of each value, in whole words.
            let start = body.count
            body += [UInt8](repeating: 0, count: ((row.count + 1) / 2 + 7) / 8 * 8)
            for (index, value) in row.enumerated() {
                let type: UInt8
                switch value {
                case .integer(let number):
                    type = 1
                    append(UInt64(bitPattern: number))
                case .text(let text):
                    type = 3
                    append(text)
                case .blob(let bytes):
                    type = 4
                    append(UInt64(bytes.count))
                    body += bytes
                    fill()
                default:
                    type = 5
                    append(0)
                }
                body[start + index / 2] |= index % 2 == 0 ? type : type << 4
            }
        }
        append(hasMore ? 0xEEEE_EEEE_EEEE_EEEE : .max)
        let header = FrameHeader(wordCount: UInt32(body.count / 8), type: 7)
        return withUnsafeBytes(of: header.word.littleEndian) { Array($0) } + body
    }
}
