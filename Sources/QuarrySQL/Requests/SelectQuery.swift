package import QuarryCore

/// A SELECT statement as a value, which requests and associations change, and which is rendered.
package struct SelectQuery: Sendable {
    /// The source of the rows.
    package enum Source: Sendable {
        /// `"player"`, `"main"."player"`
        case table(String, schema: String? = nil)
        /// `"name"`: a table of WITH, with its columns if they are known.
        case named(String, columns: [String]?)
        /// `(SELECT …)`
        case query(SQLSubquery)
        /// `json_each(x)`
        case function(String, [SQLExpression], columns: [String])
    }

    package struct Limit: Sendable {
        package var count: Int
        package var offset: Int?

        package init(count: Int, offset: Int? = nil) {
            self.count = count
            self.offset = offset
        }
    }

    package var source: Source

    /// The identities by which columns refer to the table.
    package var identities: [TableIdentity] = []

    /// nil for all columns.
    package var selection: [SQLSelection]?

    package var filter: SQLExpression?
    package var ordering: [SQLOrdering] = []
    package var isReversed = false
    package var isDistinct = false
    package var limit: Limit?

    private var rest: Rest?

    package init(_ source: Source) {
        self.source = source
    }

    /// A query for a table.
    package init(table: String) { self.init(.table(table)) }

    // MARK: - Rarer clauses

    /// Stored separately to keep queries small, because each change copies them.
    private final class Rest: Sendable {
        // Unchecked: it changes only when the object is destroyed, when no other reference exists.
        @exclusivity(unchecked) private(set) nonisolated(unsafe) var clauses: Clauses
        let depth: Int32

        init(_ clauses: Clauses) {
            self.clauses = clauses
            depth = Int32(clamping: clauses.depth)
        }

        deinit {
            if depth > NestingDepth.ofFlatDestruction, FlatDestruction.add(taken()) { FlatDestruction.finish() }
        }

        private func taken() -> FlatDestruction.Part {
            defer { clauses = Clauses() }
            return .clauses(clauses)
        }
    }

    /// The depth of the deepest expression or table inside the rarer clauses.
    var clauseDepth: Int { rest.map { Int($0.depth) } ?? 0 }

    package struct Clauses: Sendable {
        package var grouping: [SQLExpression] = []
        package var groupsByPrimaryKey = false
        package var having: SQLExpression?
        /// Whether the primary key comes last in the order.
        package var hasStableOrder = false
        package var joins: [Join] = []
        package var tables: [NamedTable] = []
        package var windows: [(name: String, definition: WindowDefinition)] = []
        package var compounds: [Compound] = []
        /// Rows that separate queries prefetch.
        package var prefetches: [Prefetch] = []
        /// Limits the rows of each partition.
        package var ranking: Ranking?
        /// The table that a subquery in FROM replaces.
        package var derivedTable: String?
    }

    package var clauses: Clauses {
        get { rest?.clauses ?? Clauses() }
        set { rest = Rest(newValue) }
    }

    /// Whether the query has any of the rarer clauses.
    package var hasClauses: Bool { rest != nil }

    /// A query after UNION, INTERSECT or EXCEPT.
    package struct Compound: Sendable {
        package enum Operator: String, Sendable {
            case union = "UNION"
            case unionAll = "UNION ALL"
            case intersect = "INTERSECT"
            case except = "EXCEPT"
        }

        package var combination: Operator
        package var query: SQLSubquery

        package init(combination: Operator, query: SQLSubquery) {
            self.combination = combination
            self.query = query
        }
    }

    /// A table of WITH: <https://www.sqlite.org/lang_with.html>.
    package struct NamedTable: Sendable {
        package var name: String
        package var columns: [String]?
        package var isRecursive: Bool
        package var query: SQLSubquery
        /// `MATERIALIZED`, `NOT MATERIALIZED`
        package var hint: String?

        package init(
            name: String, columns: [String]? = nil, isRecursive: Bool = false, query: SQLSubquery, hint: String? = nil
        ) {
            self.name = name
            self.columns = columns
            self.isRecursive = isRecursive
            self.query = query
            self.hint = hint
        }
    }

    /// Selects rows by their number in their partition: `ROW_NUMBER() OVER (PARTITION BY … ORDER BY …)`.
    ///
    /// Partitions have the order of the query. See <https://www.sqlite.org/windowfunctions.html>.
    package struct Ranking: Sendable {
        package var partition: [SQLExpression]
        package var limit: Limit

        package init(partition: [SQLExpression], limit: Limit) {
            self.partition = partition
            self.limit = limit
        }

        /// The name of the column with the number.
        package static let column = "quarry_rank"
    }

    // MARK: - Changes

    /// Adds a condition, which must hold in addition to the others.
    package mutating func filter(_ condition: SQLExpression) {
        filter = filter.map { .association($0, .and, condition) } ?? condition
    }

    package mutating func having(_ condition: SQLExpression) {
        clauses.having = clauses.having.map { .association($0, .and, condition) } ?? condition
    }

    package mutating func annotate(_ selections: [SQLSelection]) {
        selection = (selection ?? [SQLSelection(content: .allColumns)]) + selections
    }

    package mutating func order(_ terms: [SQLOrdering]) {
        ordering = terms
        isReversed = false
        if hasClauses, clauses.hasStableOrder { clauses.hasStableOrder = false }
    }

    package mutating func name(_ table: NamedTable) {
        clauses.tables.removeAll { $0.name.isSameName(as: table.name) }
        clauses.tables.append(table)
    }

    // MARK: - Names

    /// The name of the table, if the source is a table.
    package var tableName: String? {
        if case .table(let name, _) = source { name } else { nil }
    }

    /// The schema that the query names; nil if SQLite finds the table by its name.
    package var schemaName: String? {
        if case .table(_, let schema) = source { schema } else { nil }
    }

    /// The name of the source, for messages.
    package var sourceName: String {
        switch source {
        case .table(let name, _), .named(let name, _), .function(let name, _, _): name
        case .query: (hasClauses ? clauses.derivedTable : nil) ?? "subquery"
        }
    }

    /// The name of the table that associations start from, even if the source is a subquery on it.
    package var originName: String {
        guard case .query(let subquery) = source, case .query(let inner) = subquery.content,
            !hasClauses || clauses.derivedTable == nil
        else { return sourceName }
        return inner.originName
    }

    /// The name given by an alias.
    ///
    /// - throws: `SQLITE_MISUSE` if aliases give two names.
    func givenName() throws -> String? {
        var name: String?
        for identity in identities {
            guard let given = identity.name else { continue }
            if let name, !name.isSameName(as: given) {
                throw DatabaseError.misuse("table \(sourceName) has two names in one request: \(name), \(given)")
            }
            name = given
        }
        return name
    }
}

/// A table joined to another table.
package struct Join: Sendable {
    /// The condition that joined rows satisfy.
    package enum Condition: Sendable {
        /// All rows.
        case none
        /// An expression on both tables.
        case expression(@Sendable (_ left: TableIdentity, _ right: TableIdentity) -> SQLExpression)
        /// Equal columns, which may depend on the schema: pairs of a left and a right column.
        case columns(
            @Sendable (_ left: String, _ right: String, any QuerySchema) throws -> [(left: String, right: String)])
    }

    package enum Kind: String, Sendable {
        case inner = "JOIN"
        case left = "LEFT JOIN"
        case right = "RIGHT JOIN"
        case full = "FULL JOIN"
        case cross = "CROSS JOIN"
    }

    /// The name of the scope in results.
    package var key: String
    package var kind: Kind
    package var condition: Condition
    package var query: SelectQuery

    /// Whether the joined columns are selected, in a separate scope.
    package var isSelected: Bool

    /// The conditions and tables of merged joins, which must be the same.
    package var alternatives: [Alternative] = []

    package struct Alternative: Sendable {
        package var condition: Condition
        package var table: String
    }

    /// Whether the join is written in parentheses, together with the tables joined to it: an optional join with a
    /// required join inside. Either both rows are found, or neither.
    package var isGrouped: Bool {
        kind != .inner && query.hasClauses && query.clauses.joins.contains { $0.kind == .inner }
    }

    package init(key: String, kind: Kind, condition: Condition, query: SelectQuery, isSelected: Bool) {
        self.key = key
        self.kind = kind
        self.condition = condition
        self.query = query
        self.isSelected = isSelected
    }
}
