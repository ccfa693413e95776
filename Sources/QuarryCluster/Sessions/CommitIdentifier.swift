import QuarryClusterWire

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Identifies a transaction in the commit journal, a table of the cluster's database:
///
/// ```sql
/// CREATE TABLE quarry_commit (
///     id BLOB NOT NULL, -- 16 random bytes
///     time INTEGER NOT NULL, -- seconds since 1970, of the client's clock
///     isFence INTEGER NOT NULL, -- 1: written by the settlement, so that the transaction can't be committed any more
///     PRIMARY KEY (time, id)
/// ) STRICT, WITHOUT ROWID
/// ```
///
/// Without a rowid, its rows leave `last_insert_rowid()` as it is. In the order of time, the oldest rows are found at
/// once.
struct CommitIdentifier: Hashable, Sendable, CustomStringConvertible {
    private let high = UInt64.random(in: .min ... .max)
    private let low = UInt64.random(in: .min ... .max)
    private let time = CommitIdentifier.now

    static let table = """
        CREATE TABLE IF NOT EXISTS quarry_commit \
        (id BLOB NOT NULL, time INTEGER NOT NULL, isFence INTEGER NOT NULL, PRIMARY KEY (time, id)) \
        STRICT, WITHOUT ROWID
        """

    static let insertion = "INSERT INTO quarry_commit (id, time, isFence) VALUES (?, ?, ?)"
    static let question = "SELECT isFence FROM quarry_commit WHERE id = ? AND time = ?"

    /// Removes rows that are no longer needed, the oldest first and few at a time: a long statement stops the leader.
    ///
    /// The newest 100,000 stay, however old they seem to a client whose clock is wrong.
    static let pruning = """
        DELETE FROM quarry_commit \
        WHERE time <= (SELECT max(time) FROM (SELECT time FROM quarry_commit ORDER BY time LIMIT 200)) AND time < ? \
        AND time < (SELECT time FROM quarry_commit ORDER BY time DESC LIMIT 1 OFFSET 100000)
        """

    /// Whether a statement names the table.
    static func isMentioned(in sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { bytes in
            let name: StaticString = "quarry_commit"
            return name.withUTF8Buffer { name in
                guard bytes.count >= name.count else { return false }
                return (0...(bytes.count - name.count)).contains { start in
                    // Of its characters, only letters have another case.
                    bytes[start] | 0x20 == name[0]
                        && name.indices.allSatisfy { bytes[start + $0] | 0x20 == name[$0] | 0x20 }
                }
            }
        }
    }

    /// The number of a session's commits from one pruning to the next.
    static let commitsPerPruning = 100

    /// The seconds for which rows are kept: a settlement takes less.
    static let lifetime: Int64 = 86_400

    var value: WireValue {
        .blob([high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }

    /// The arguments of the question.
    var key: [WireValue] { [value, .integer(time)] }

    /// The row that the transaction itself writes.
    var row: [WireValue] { [value, .integer(time), .integer(0)] }

    /// The row that prevents the transaction.
    var fence: [WireValue] { [value, .integer(time), .integer(1)] }

    static var now: Int64 {
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        return Int64(seconds.tv_sec)
    }

    /// The bytes as SQL writes them.
    var description: String {
        guard case .blob(let bytes) = value else { return "" }
        return "X'"
            + bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }.joined() + "'"
    }
}
