/// A statement whose plan scans whole tables: <https://www.sqlite.org/eqp.html>.
///
/// ```swift
/// config.onScan = { scan in logger.warning("scans \(scan.tables): \(scan.sql)") }
/// ```
public struct ClusterScan: Sendable, Hashable {
    /// The statement.
    public let sql: String

    /// The tables that are scanned, as the statement names them.
    public let tables: [String]
}
