import BenchSupport
import CSQLiteBench

/// Rows 1 to 4: reading whole tables.
extension CPeer {
    static func cursor(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectItems) { connection, statement in
            var sum = 0
            while try connection.step(statement) {
                sum &+= Item(statement).checksum
            }
            return sum
        }
    }

    /// The value of a column, whose type is determined at run time.
    private enum Value {
        case null
        case integer(Int64)
        case double(Double)
        case text(String)
        case blob([UInt8])

        @inline(__always)
        init(_ statement: OpaquePointer, _ index: Int32) {
            switch sqlite3_column_type(statement, index) {
            case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, index))
            case SQLITE_FLOAT: self = .double(sqlite3_column_double(statement, index))
            case SQLITE_TEXT: self = .text(columnText(statement, index))
            case SQLITE_BLOB: self = .blob([UInt8](columnData(statement, index)))
            default: self = .null
            }
        }

        @inline(__always)
        var integer: Int {
            if case .integer(let value) = self { return Int(value) }
            return 0
        }
    }

    static func untypedCursor(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectItems) { connection, statement in
            var sum = 0
            while try connection.step(statement) {
                for index in 0..<Int32(10) {
                    sum &+= (Int(index) + 1) &* Value(statement, index).integer
                }
            }
            return sum
        }
    }

    /// Strings are owned, as everywhere.
    static func playerCursor(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectContacts) { connection, statement in
            var sum = 0
            while try connection.step(statement) {
                sum &+= Checksum.ofContact(
                    id: sqlite3_column_int64(statement, 0),
                    name: columnText(statement, 1),
                    email: columnText(statement, 2),
                    score: Int(sqlite3_column_int64(statement, 3)),
                    bonus: sqlite3_column_double(statement, 4),
                    teamId: columnIsNull(statement, 5) ? nil : sqlite3_column_int64(statement, 5))
            }
            return sum
        }
    }

    /// Values whose types are found out at run time: a word and a tag for each, and the bytes of text and blobs.
    private struct ValueTable {
        private(set) var words: [Int64] = []
        private(set) var types: [UInt8] = []
        private(set) var bytes: [UInt8] = []

        @inline(__always)
        mutating func append(_ statement: OpaquePointer, _ index: Int32) {
            let type = sqlite3_column_type(statement, index)
            types.append(UInt8(type))
            switch type {
            case SQLITE_INTEGER:
                words.append(sqlite3_column_int64(statement, index))
            case SQLITE_FLOAT:
                words.append(Int64(bitPattern: sqlite3_column_double(statement, index).bitPattern))
            case SQLITE_TEXT, SQLITE_BLOB:
                let start = sqlite3_column_blob(statement, index)
                let count = Int(sqlite3_column_bytes(statement, index))
                words.append(Int64(bytes.count) << 32 | Int64(count))
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
            default:
                words.append(0)
            }
        }

        @inline(__always)
        func integer(_ index: Int) -> Int {
            types[index] == SQLITE_INTEGER ? Int(words[index]) : 0
        }
    }

    static func rowArray(_ fixtures: Fixtures) throws -> Workload {
        let connection = try Connection(fixtures.readPath)
        @Sendable func values() throws -> ValueTable {
            let statement = try connection.cached(BenchSQL.selectItems)
            defer { sqlite3_reset(statement) }
            var values = ValueTable()
            while try connection.step(statement) {
                for index in 0..<Int32(10) {
                    values.append(statement, index)
                }
            }
            return values
        }
        return Workload(
            .sync { _ in
                let values = try values()
                return stride(from: 0, to: values.types.count, by: 10).reduce(0) { sum, row in
                    (0..<10).reduce(sum) { $0 &+ ($1 + 1) &* values.integer(row + $1) }
                }
            },
            keep: values)
    }

    static func structs(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectItems) { connection, statement in
            var items: [Item] = []
            while try connection.step(statement) {
                items.append(Item(statement))
            }
            return items.reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func players(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectPlayers) { connection, statement in
            var players: [Player] = []
            while try connection.step(statement) {
                players.append(Player(statement))
            }
            return players.reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func strings(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectNames) { connection, statement in
            var names: [String] = []
            while try connection.step(statement) {
                names.append(columnText(statement, 0))
            }
            return Checksum.of(names)
        }
    }

    static func ints(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectInts) { connection, statement in
            var values: [Int] = []
            while try connection.step(statement) {
                values.append(Int(sqlite3_column_int64(statement, 0)))
            }
            return Checksum.of(values)
        }
    }

    static func optionals(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectTeams) { connection, statement in
            var values: [Int64?] = []
            while try connection.step(statement) {
                values.append(columnIsNull(statement, 0) ? nil : sqlite3_column_int64(statement, 0))
            }
            return Checksum.of(values)
        }
    }

    private static func scan(
        _ fixtures: Fixtures, _ sql: String,
        _ body: @escaping @Sendable (Connection, OpaquePointer) throws -> Int
    ) throws -> Workload {
        let connection = try Connection(fixtures.readPath)
        return .sync { _ in
            let statement = try connection.cached(sql)
            defer { sqlite3_reset(statement) }
            return try body(connection, statement)
        }
    }
}
