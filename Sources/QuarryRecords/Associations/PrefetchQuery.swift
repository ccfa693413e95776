import QuarryCore
import QuarrySQL

/// The query that fetches the rows of an association for many rows at once.
struct PrefetchQuery {
    private let prefetch: Prefetch

    /// The columns of the association's first table.
    private let columns: [String]

    private let database: Database

    init(_ prefetch: Prefetch, _ columns: [String], _ database: Database) {
        self.prefetch = prefetch
        self.columns = columns
        self.database = database
    }

    // MARK: - Keys

    /// The keys in chunks, each of which fits into the parameters of a statement.
    func chunks(of keys: PrefetchKeys) throws -> [[DatabaseValue]] {
        guard keys.count > 0 else { return [] }
        let limit = database.limit(.variableNumber)
        var size = limit / keys.width
        if keys.count * keys.width + 100 > limit {
            var writer = QueryWriter(schema: database)
            try writer.write(query([]))
            size = (limit - writer.statementArguments().values.count) / keys.width
        }
        size = max(size, 1)
        let values = keys.sortedValues
        return stride(from: 0, to: keys.count, by: size).map { start in
            Array(values[start * keys.width..<min(start + size, keys.count) * keys.width])
        }
    }

    // MARK: - The query

    /// The query for the rows with the given keys.
    ///
    /// - parameter keys: the values of all keys, one key after another.
    private func query(_ keys: [DatabaseValue]) -> SelectQuery {
        let path = prefetch.path
        let pivot = path.pivots.isEmpty ? nil : TableIdentity()
        var query = path.reversedQuery { first in
            first.filter(condition(keys))
            if let pivot { first.identities.append(pivot) }
        }
        let names = columns.map { SQLSelection(content: .named(SQLExpression(content: .column($0)), "grdb_" + $0)) }
        query.annotate(names.map { name in pivot.map { SQLSelection(content: .of($0, name)) } ?? name })
        if query.hasClauses { group(&query, pivot) }
        if usesBase(keys) { query.name(Self.base(keys, columns.count)) }
        if let limit = query.limit {
            query.limit = nil
            let partition = columns.map { column in
                // The columns of the result number distinct rows.
                if query.isDistinct { return SQLExpression(content: .column("grdb_" + column)) }
                let column = SQLExpression(content: .column(column))
                return pivot.map { column.aliased($0) } ?? column
            }
            query.clauses.ranking = SelectQuery.Ranking(partition: partition, limit: limit)
        }
        return query
    }

    /// Groups a query separately for each parent.
    private func group(_ query: inout SelectQuery, _ pivot: TableIdentity?) {
        let clauses = query.clauses
        // A row of the association's own table belongs to one parent; rows behind a pivot may belong to several.
        guard !clauses.grouping.isEmpty || clauses.groupsByPrimaryKey && pivot != nil else { return }
        for column in columns.map({ SQLExpression(content: .column($0)) }) {
            if pivot == nil, clauses.grouping.contains(where: { $0.isSameColumn(as: column) }) { continue }
            query.clauses.grouping.append(pivot.map { column.aliased($0) } ?? column)
        }
    }

    private static let baseName = "quarry_base"

    private func condition(_ keys: [DatabaseValue]) -> SQLExpression {
        let column = columns.map { SQLExpression(content: .column($0)) }
        if usesBase(keys) { return SQLExpression.membership(of: column, inTable: Self.baseName) }
        return SQLExpression.membership(of: column[0], in: keys.map(\.sqlExpression))
    }

    /// Whether the keys are in a table. A list without keys would be the condition `0`, and SQLite doesn't report the
    /// columns of conditions beside it, which belong to the region.
    private func usesBase(_ keys: [DatabaseValue]) -> Bool { columns.count > 1 || keys.isEmpty }

    /// `"quarry_base" AS (VALUES (1, 'x'), (2, 'y'))`: a list of conditions would be too deep for SQLite's parser.
    private static func base(_ keys: [DatabaseValue], _ width: Int) -> SelectQuery.NamedTable {
        let row = "(" + repeatElement("?", count: width).joined(separator: ", ") + ")"
        let count = keys.count / width
        let sql =
            count == 0
            ? "SELECT " + repeatElement("0", count: width).joined(separator: ", ") + " WHERE 0"
            : "VALUES " + repeatElement(row, count: count).joined(separator: ", ")
        let values = SQL(sql: sql, arguments: StatementArguments(values: keys))
        return SelectQuery.NamedTable(name: baseName, query: SQLSubquery(content: .sql(values)))
    }

    // MARK: - Running it

    func plan(_ keys: [DatabaseValue], _ fetch: PrefetchingFetch) throws -> RequestLayout {
        try RequestLayout(query(keys), database, fetch: fetch)
    }

    /// The indexes of the keys in the result.
    func keyColumns(in plan: RequestLayout) throws -> [Int] {
        try columns.map { column in
            let place = plan.adapter.root.columns.last { plan.names[$0].isSameName(as: "grdb_" + column) }
            guard let place else {
                throw DatabaseError.misuse(
                    "\(prefetch.key) can't be fetched: the result has no column grdb_\(column)",
                    sql: plan.statement.sql)
            }
            return place
        }
    }

    /// The rows, seen through an adapter only if it changes the visible columns.
    func rows(of plan: RequestLayout) -> PreparedRequest {
        let root = plan.adapter.root
        let isPlain =
            root.scopes.isEmpty && plan.adapter.names == nil
            && root.columns.count == plan.statement.knownColumnNames.count
        return isPlain ? PreparedRequest(statement: plan.statement) : plan.rows
    }
}
