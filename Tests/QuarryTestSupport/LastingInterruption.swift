public import QuarryCore

/// Runs `body` while the connection is interrupted: a running cursor keeps the interruption alive, so that each
/// statement in `body` is interrupted, too.
public func withLastingInterruption(_ db: Database, _ body: () throws -> Void) throws {
    let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
    _ = try cursor.next()
    db.interrupt()
    try withExtendedLifetime(cursor, body)
}
