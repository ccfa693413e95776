import QuarryCore

/// An index of a table, as returned by `Database.indexes(on:in:)`.
///
/// See <https://www.sqlite.org/pragma.html#pragma_index_list>.
public struct IndexInfo: Hashable, Sendable {
    /// The origin of an index: a statement or a constraint.
    public enum Origin: String, Hashable, Sendable, DatabaseValueConvertible {
        /// `CREATE INDEX`
        case createIndex = "c"
        /// `UNIQUE`
        case uniqueConstraint = "u"
        /// `PRIMARY KEY`
        case primaryKeyConstraint = "pk"
    }

    /// A column of an index.
    public struct Term: Hashable, Sendable {
        /// The column; nil for an expression, or the rowid.
        let column: String?

        /// Whether the order is descending.
        public let isDescending: Bool

        /// The collation that orders texts, such as `BINARY`.
        public let collation: String

        init(_ row: Row) {
            column = row["name"]
            isDescending = row["desc"]
            collation = row["coll"] ?? "BINARY"
        }
    }

    /// The name.
    public let name: String

    /// The columns, in the order of the index.
    public let columns: [String]

    /// The order of each column.
    public let terms: [Term]

    /// Whether its values are unique, except NULL.
    public let isUnique: Bool

    /// Whether the index has a condition, so that it contains only some rows.
    public let isPartial: Bool

    /// The origin of the index.
    public let origin: Origin

    /// nil for an index on expressions, whose columns have no names.
    init?(_ row: Row, terms: [Term]) {
        let columns = terms.compactMap(\.column)
        guard columns.count == terms.count else { return nil }
        name = row["name"]
        self.columns = columns
        self.terms = terms
        isUnique = row["unique"]
        isPartial = row["partial"]
        origin = Origin(rawValue: row["origin"]) ?? .createIndex
    }
}
