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
///     time INTEGER NOT NULL, -- microseconds since 1970 of the client's clock, but more than the other rows'
///     isFence INTEGER NOT NULL, -- 1: written by the settlement, so that the transaction can't be committed any more
///     PRIMARY KEY (time, id)
/// ) STRICT, WITHOUT ROWID
/// ```
///
/// Without a rowid, its rows leave `last_insert_rowid()` as it is. In the order of time, the oldest rows are found at
/// once. Writers take turns, so the order of time is that of the commits, whatever the clocks of the clients show: a
/// row that a settlement may still look for is among the newest.
struct CommitIdentifier: Hashable, Sendable, CustomStringConvertible {
    private let high = UInt64.random(in: .min ... .max)
    private let low = UInt64.random(in: .min ... .max)

    /// The client's time. That of the row isn't earlier.
    private let time: Int64

    init(time: Int64) { self.time = time }

    static let table = """
        CREATE TABLE IF NOT EXISTS quarry_commit \
        (id BLOB NOT NULL, time INTEGER NOT NULL, isFence INTEGER NOT NULL, PRIMARY KEY (time, id)) \
        STRICT, WITHOUT ROWID
        """

    /// The client's clock may be behind that of an earlier writer. The time isn't returned: the row is sent behind
    /// BEGIN, and RETURNING outside a transaction, which is where it runs if BEGIN fails, damages a node.
    static let insertion = """
        INSERT INTO quarry_commit (id, time, isFence) \
        VALUES (?, max(?, coalesce((SELECT max(time) FROM quarry_commit), 0) + 1), 0)
        """

    static let fencing = """
        INSERT INTO quarry_commit (id, time, isFence) \
        VALUES (?, max(?, coalesce((SELECT max(time) FROM quarry_commit), 0) + 1), 1)
        """

    /// Reads the rows since the client's time: those of the last seconds, unless the client's clock is behind.
    static let question = "SELECT isFence FROM quarry_commit WHERE id = ? AND time >= ? LIMIT 1"

    /// Removes rows that are no longer needed, the oldest first and few at a time: a long statement stops the leader.
    ///
    /// The newest 100,000 stay, however old they seem to a client whose clock is wrong. If the newest row is more than
    /// a lifetime ahead of this client's clock, one of the two clocks is wrong, and the number alone counts: else the
    /// table would grow until the clocks agree.
    static let pruning = """
        DELETE FROM quarry_commit \
        WHERE time <= (SELECT max(time) FROM (SELECT time FROM quarry_commit ORDER BY time LIMIT 200)) \
        AND (time < ? OR (SELECT max(time) FROM quarry_commit) > ?) \
        AND time < (SELECT time FROM quarry_commit ORDER BY time DESC LIMIT 1 OFFSET 100000)
        """

    /// The arguments of the pruning.
    static func bounds(at now: Int64) -> [WireValue] { [.integer(now - lifetime), .integer(now + lifetime)] }

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

    /// The microseconds for which rows are kept, a quarter of an hour: a settlement takes seconds. A cluster commits
    /// some 700 times a second, so these are some 600,000 rows, 30 MB, at most.
    static let lifetime: Int64 = 900_000_000

    var value: WireValue {
        .blob([high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }

    /// The arguments of the insertion, the question and the fencing.
    var key: [WireValue] { [value, .integer(time)] }

    /// The microseconds since 1970 of this machine's clock.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The bytes as SQL writes them.
    var description: String {
        guard case .blob(let bytes) = value else { return "" }
        return "X'"
            + bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }.joined() + "'"
    }
}
