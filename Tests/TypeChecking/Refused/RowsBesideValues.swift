// error: type 'Row' does not conform to the 'Sendable' protocol
import Quarry

// If this compiled, it would be the synchronous `read`, which blocks the thread.
func reading(_ pool: DatabasePool) async throws {
    let (rows, count) = try await pool.read { db in (try Row.fetchAll(db, sql: "SELECT 1"), 1) }
    print(rows, count)
}
