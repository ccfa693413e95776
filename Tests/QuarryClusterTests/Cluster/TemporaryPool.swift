import Quarry
import QuarryTestSupport

/// A pool with the same table as a cluster of `ClusterFixture`.
struct TemporaryPool {
    let pool: DatabasePool
    let folder: TemporaryFolder
}

func temporaryPool(schema: String = ClusterFixture.schema) throws -> TemporaryPool {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    // An idle second would bring an access of the library's, which is counted.
    configuration.wal.idleDelay = nil
    let pool = try DatabasePool(path: folder.path + "/database", configuration: configuration)
    try pool.write { db in try db.execute(sql: schema) }
    return TemporaryPool(pool: pool, folder: folder)
}
