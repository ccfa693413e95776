import Quarry
import QuarryTestSupport

/// A pool with the same table as a cluster of `ClusterFixture`.
struct TemporaryPool {
    let pool: DatabasePool
    let folder: TemporaryFolder
}

func temporaryPool(schema: String = ClusterFixture.schema) throws -> TemporaryPool {
    let folder = try TemporaryFolder()
    let pool = try DatabasePool(path: folder.path + "/database")
    try pool.write { db in try db.execute(sql: schema) }
    return TemporaryPool(pool: pool, folder: folder)
}
