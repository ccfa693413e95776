// Accesses that return rows: with `await`, they take the asynchronous form, without a warning.
import Quarry

func reading(_ pool: DatabasePool, _ queue: DatabaseQueue, _ reader: any DatabaseReader) async throws {
    let rows = try await pool.read { db in try Row.fetchAll(db, sql: "SELECT 1") }
    let _: [Row] = rows
    let _: Row? = try await queue.read { db in try Row.fetchOne(db, sql: "SELECT 1") }
    let _: [Row] = try await reader.read { db in
        let rows = try Row.fetchAll(db, sql: "SELECT 1")
        return rows.filter { $0["a"] == 1 }
    }
    let _: Int? = try await pool.read { db in try Row.fetchOne(db, sql: "SELECT 1")?["a"] }
    let _: [Int] = try await pool.read { db in try Row.fetchAll(db, sql: "SELECT 1").map { $0["a"] } }
    let _: (Int, String) = try await pool.read { _ in (1, "") }
    try await pool.write { db in try db.execute(sql: "DELETE FROM t") }
    let _: Set<Row> = try await pool.write { db in try Row.fetchSet(db, sql: "DELETE FROM t RETURNING *") }
    let _: [[Row]] = try await pool.writeWithoutTransaction { _ in [] }
    let _: [Int] = try await pool.read { _ in [] }
    let _: String? = try await pool.read { _ in nil }
    async let count = pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
    _ = try await count
}

func readingSynchronously(_ pool: DatabasePool, _ queue: DatabaseQueue, _ reader: any DatabaseReader) throws {
    let rows = try pool.read { db in try Row.fetchAll(db, sql: "SELECT 1") }
    let _: [Row] = rows
    let _: Row? = try queue.write { db in try Row.fetchOne(db, sql: "SELECT 1") }
    let _: [Row] = try reader.unsafeRead { db in
        let rows = try Row.fetchAll(db, sql: "SELECT 1")
        return rows.filter { $0["a"] == 1 }
    }
    let row = try pool.read { db in try Row.fetchOne(db, sql: "SELECT 1") }
    let _: Int? = row?["a"]
    let _: [Row] = try pool.read { _ in [] }
    let _: Row? = try pool.read { _ in nil }
}

func sending(_ pool: DatabasePool) async throws -> sending [Row] {
    try await pool.read { db in try Row.fetchAll(db, sql: "SELECT 1") }
}

@MainActor func onTheMainActor(_ pool: DatabasePool) async throws -> Int {
    let rows = try await sending(pool)
    let more = try await pool.read { db in try Row.fetchAll(db, sql: "SELECT 1") }
    return rows.count + more.count
}
