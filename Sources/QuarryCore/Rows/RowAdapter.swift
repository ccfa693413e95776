/// Changes the columns that are seen of a row.
public protocol RowAdapter: Sendable {
    /// A row that shows the columns of `row`, which it reads at each step.
    func adapt(_ row: Row) throws -> Row
}

/// An adapter over what another makes of a row.
struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let second: any RowAdapter

    func adapt(_ row: Row) throws -> Row { try second.adapt(first.adapt(row)) }
}
