import Quarry

/// Records, for as long as the library has values and rows alone.
protocol FetchableRecord: RowDecodable {
    init(row: Row) throws
}

extension FetchableRecord {
    @inlinable
    static func decoded(from row: Row) throws -> Self {
        try Self(row: row)
    }
}
