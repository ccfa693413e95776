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

    /// What a column holds, found out at run time.
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

    static func structs(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures, BenchSQL.selectItems) { connection, statement in
            var items: [Item] = []
            while try connection.step(statement) {
                items.append(Item(statement))
            }
            return items.reduce(0) { $0 &+ $1.checksum }
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
