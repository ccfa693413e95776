package import QuarryCore

/// A SELECT statement, as a value: what requests and associations change, and what is rendered.
package struct SelectQuery: Sendable {
    /// What is selected from.
    package enum Source: Sendable {
        /// `"player"`
        case table(String)
        /// `"name"`: what WITH has named, with its columns if they are known.
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

    /// What others call the table.
    package var identities: [TableIdentity] = []

    /// Nil for all columns.
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

    /// A table.
    package init(table: String) { self.init(.table(table)) }

    // MARK: - What most queries don't have

    /// It is apart, so that a query is small: each change copies it.
    private final class Rest: Sendable {
        // Unchecked: it changes only when this is destroyed, and then no other reference is left.
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
        /// What is fetched besides, by a query of its own.
        package var prefetches: [Prefetch] = []
        /// The first rows of each part.
        package var ranking: Ranking?
        /// The table that a subquery in FROM stands for.
        package var derivedTable: String?
    }

    package var clauses: Clauses {
        get { rest?.clauses ?? Clauses() }
        set { rest = Rest(newValue) }
    }

    /// Whether there are any of the rarer clauses.
    package var hasClauses: Bool { rest != nil }

    /// A query that stands behind UNION and its like.
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

    /// What stands in WITH: <https://www.sqlite.org/lang_with.html>.
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

    /// Chooses rows by their number in their part: `ROW_NUMBER() OVER (PARTITION BY … ORDER BY …)`.
    ///
    /// Parts are ordered as the query is. See <https://www.sqlite.org/windowfunctions.html>.
    package struct Ranking: Sendable {
        package var partition: [SQLExpression]
        package var limit: Limit

        package init(partition: [SQLExpression], limit: Limit) {
            self.partition = partition
            self.limit = limit
        }

        /// The name of the column that has the number.
        package static let column = "quarry_rank"
    }

    // MARK: - Changes

    /// Adds a condition: all must hold.
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

    // MARK: - What it is

    /// The name of the table, where it is one.
    package var tableName: String? {
        if case .table(let name) = source { name } else { nil }
    }

    /// The table, or what there is instead of one, for messages.
    package var sourceName: String {
        switch source {
        case .table(let name), .named(let name, _), .function(let name, _, _): name
        case .query: (hasClauses ? clauses.derivedTable : nil) ?? "subquery"
        }
    }

    /// The table whose rows the query has, for associations: that of the subquery it selects from, too.
    package var originName: String {
        guard case .query(let subquery) = source, case .query(let inner) = subquery.content,
            !hasClauses || clauses.derivedTable == nil
        else { return sourceName }
        return inner.originName
    }

    /// The name that others have given the table.
    ///
    /// - throws: `SQLITE_MISUSE` if they have given two.
    func givenName() throws -> String? {
        var name: String?
        for identity in identities {
            guard let given = identity.name else { continue }
            if let name, !name.isSameName(as: given) {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "table \(sourceName) has two names in one request: \(name), \(given)")
            }
            name = given
        }
        return name
    }
}

/// A table that is joined to another one.
package struct Join: Sendable {
    /// How a joined table's rows are found.
    package enum Condition: Sendable {
        /// All rows.
        case none
        /// An expression on both tables.
        case expression(@Sendable (_ left: TableIdentity, _ right: TableIdentity) -> SQLExpression)
        /// Equal columns, which the schema may have to tell: pairs of a left and a right column.
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

    /// What the rows are found by in a result: the scope's name.
    package var key: String
    package var kind: Kind
    package var condition: Condition
    package var query: SelectQuery

    /// Whether its columns stand in the result, in a scope of their own.
    package var isSelected: Bool

    /// The conditions and tables of joins that were merged, which must be the same.
    package var alternatives: [Alternative] = []

    package struct Alternative: Sendable {
        package var condition: Condition
        package var table: String
    }

    /// Whether it stands in parentheses with those that are joined to it: what must be there behind what may be
    /// missing. Both are found, or neither.
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
