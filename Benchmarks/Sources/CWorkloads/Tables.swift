import BenchSupport
import CSQLiteBench

/// Fills the file at the path with the tables that all peers read. The same rows each time.
package func buildTables(path: String, items: Int, players: Int, payments: Int) throws {
    let connection = try Connection(path)
    let columns = (1...10).map { "(n * \($0)) % 1000003" }.joined(separator: ", ")
    try connection.execute(
        """
        PRAGMA synchronous = OFF;
        BEGIN;
        \(BenchSQL.createItem);
        \(BenchSQL.createPlayer);
        \(BenchSQL.createPayment);
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(items))
        INSERT INTO item SELECT \(columns) FROM numbers;
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(players))
        INSERT INTO player SELECT
            n,
            printf('Player%06d', n),
            printf('player%06d@example.org', n),
            n * 7919 % 1000,
            n % 400 * 0.25,
            CASE WHEN n % 4 <> 0 THEN n % 50 + 1 END,
            strftime('%Y-%m-%d %H:%M:%S.500', 1500000000 + n * 997, 'unixepoch'),
            CASE WHEN n % 2 = 0 THEN zeroblob(64) END
        FROM numbers;
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(payments))
        INSERT INTO payment SELECT
            CAST(printf('%016d', n * 7919) AS BLOB),
            printf('%d.%02d', n * 7919 % 100000, n % 100),
            CAST(printf('%064d', n) AS BLOB)
        FROM numbers;
        COMMIT;
        """)
}
