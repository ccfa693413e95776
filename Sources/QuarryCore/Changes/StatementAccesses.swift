/// The tables that a statement reads and changes, as SQLite reports them when it prepares the statement.
package final class StatementAccesses: Sendable {
    /// The tables and columns that it reads.
    package let reads: DatabaseRegion

    /// The tables and columns that it may change, also through triggers and foreign keys.
    package let changes: DatabaseRegion

    /// The kinds of changes that it may make.
    package let kinds: [DatabaseEventKind]

    /// Whether it changes what names mean, or all rows: it counts as a change even if SQLite counts no changed row.
    package let isDefinition: Bool

    /// Whether it may delete all rows of a table at once, unless rows are asked for when it is prepared.
    package let mayTruncate: Bool

    /// The triggers that may write, named with the schema of the table they write.
    let triggers: Set<TableName>

    package init(
        reads: DatabaseRegion, changes: DatabaseRegion, kinds: [DatabaseEventKind], isDefinition: Bool,
        triggers: Set<TableName> = []
    ) {
        self.triggers = triggers
        self.reads = reads
        self.changes = changes
        self.kinds = kinds
        self.isDefinition = isDefinition
        mayTruncate = kinds.contains { if case .delete = $0 { true } else { false } }
    }

    /// The accesses of a statement that reads and changes no table.
    package static let none = StatementAccesses(
        reads: DatabaseRegion(), changes: DatabaseRegion(), kinds: [], isDefinition: false)

    /// The accesses of a statement about which nothing is known.
    package static let unknown = StatementAccesses(
        reads: .fullDatabase, changes: .fullDatabase, kinds: [], isDefinition: true)
}
