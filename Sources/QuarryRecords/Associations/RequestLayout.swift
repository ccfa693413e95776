import QuarryCore
import QuarrySQL

/// A query with joins or prefetches, ready to run: its statement, the indexes of each table's columns in the result,
/// and the prefetches of each table.
struct RequestLayout {
    let statement: Statement
    private(set) var adapter: JoinedRowAdapter
    private(set) var prefetches: PrefetchedScope?

    /// The names of the columns of the result.
    let names: [String]

    /// - parameters:
    ///   - hidden: the names of selected columns that rows don't have.
    ///   - fetch: the fetch that the prefetches belong to; nil for a new one.
    init(
        _ query: SelectQuery, _ db: Database, hidden: Set<String> = [], singleRow: Bool = false,
        fetch: PrefetchingFetch? = nil
    ) throws {
        var query = query
        var writer = QueryWriter(schema: db)
        try writer.checkDepth(of: query)
        var marked = try Self.mark(&query, db)
        marked.hidden.formUnion(hidden)
        let derived = try writer.derivingJoins(of: query)
        let known = try writer.columnCounts(of: derived)
        try writer.write(derived, singleRow: singleRow)
        statement = try db.reusableStatement(sql: writer.sql())
        try statement.setArguments(writer.statementArguments())

        let ranking = derived.hasClauses ? derived.clauses.ranking : nil
        var names = statement.knownColumnNames
        var columnCount = names.count
        if ranking != nil { columnCount -= 1 }
        // A subquery, and joins in parentheses, rename columns of the same name.
        let isRenamed = ranking != nil || derived.groupsJoins
        if isRenamed { names = try Self.columnNames(of: derived, db) }
        self.names = names
        let counts = try Self.counts(known, of: derived, columnCount, db)
        adapter = JoinedRowAdapter(
            root: JoinedRowAdapter.Scope(columns: []), names: isRenamed ? names : nil)
        var table = 0
        var column = 0
        let fetch = marked.isEmpty ? nil : fetch ?? PrefetchingFetch(db)
        let (root, prefetches) = try scope(derived, marked, counts, &table, &column, fetch)
        adapter.root = root
        self.prefetches = prefetches
    }

    /// The rows of the plan, without prefetches.
    var rows: PreparedRequest { PreparedRequest(statement: statement, adapter: adapter) }

    // MARK: - Keys of prefetches

    /// The prefetches of a table and of the tables joined to it, with the columns that they need.
    private struct Marked {
        struct Prefetched {
            var prefetch: Prefetch
            var pairs: [(left: String, right: String)]
            /// The names of the columns in the result.
            var names: [String]
        }

        var prefetches: [Prefetched] = []
        /// The columns that are selected for prefetches only.
        var hidden: Set<String> = []
        var joins: [Marked] = []

        var isEmpty: Bool { prefetches.isEmpty && joins.allSatisfy(\.isEmpty) }
    }

    /// Adds the columns that the query's prefetches need, and the query doesn't select.
    private static func mark(_ query: inout SelectQuery, _ db: Database) throws -> Marked {
        var isSelected = true
        return try mark(&query, &isSelected, db)
    }

    private static func mark(_ query: inout SelectQuery, _ isSelected: inout Bool, _ db: Database) throws -> Marked {
        var marked = Marked()
        guard query.hasClauses else { return marked }
        var clauses = query.clauses
        for index in clauses.joins.indices {
            var join = clauses.joins[index]
            marked.joins.append(try mark(&join.query, &join.isSelected, db))
            clauses.joins[index] = join
        }
        let prefetches = clauses.prefetches
        clauses.prefetches = []
        query.clauses = clauses
        guard !prefetches.isEmpty else { return marked }
        if !isSelected {
            isSelected = true
            query.selection = []
        }
        let writer = QueryWriter(schema: db)
        for prefetch in prefetches {
            let pairs = try prefetch.pairs(from: query.originName, db)
            var names: [String] = []
            for column in pairs.map(\.left) {
                if try writer.selects(column, query) {
                    names.append(column)
                    continue
                }
                if query.isDistinct {
                    throw DatabaseError.misuse(
                        "distinct rows of \(query.sourceName) without its column \(column) have no \(prefetch.key)")
                }
                let hidden = "grdb_" + column
                names.append(hidden)
                guard marked.hidden.insert(hidden).inserted else { continue }
                query.annotate([Column(column).forKey(hidden)])
            }
            marked.prefetches.append(Marked.Prefetched(prefetch: prefetch, pairs: pairs, names: names))
        }
        return marked
    }

    // MARK: - Column indexes

    /// The number of columns of each table; SQLite is asked for unknown numbers.
    private static func counts(
        _ known: [Int?], of query: SelectQuery, _ columnCount: Int, _ db: Database
    ) throws -> [Int] {
        let sum = known.reduce(0) { $0 + ($1 ?? 0) }
        let unknown = known.indices.filter { known[$0] == nil }
        if unknown.count == 1 { return known.map { $0 ?? columnCount - sum } }
        var counts = known
        for table in unknown {
            var index = 0
            var one = query
            one.selectNothing(but: table, &index)
            counts[table] = try columnNames(of: one, db).count
        }
        return counts.map { $0 ?? 0 }
    }

    /// The names of the query's columns without row numbers, and without parentheses around joins.
    private static func columnNames(of query: SelectQuery, _ db: Database) throws -> [String] {
        var query = query
        if query.groupsJoins { query.ungroupJoins() }
        query.clauses.ranking = nil
        var writer = QueryWriter(schema: db)
        try writer.write(query)
        return try db.reusableStatement(sql: writer.sql()).knownColumnNames
    }

    /// The indexes of the columns of a table and of the tables joined to it.
    private func scope(
        _ query: SelectQuery, _ marked: Marked, _ counts: [Int], _ table: inout Int, _ column: inout Int,
        _ fetch: PrefetchingFetch?
    ) throws -> (JoinedRowAdapter.Scope, PrefetchedScope?) {
        let count = table < counts.count ? counts[table] : 0
        let columns = column..<min(column + count, names.count)
        table += 1
        column = columns.upperBound
        var scope = JoinedRowAdapter.Scope(
            columns: columns.filter { names[$0] != SelectQuery.Ranking.column && !marked.hidden.contains(names[$0]) })
        var prefetches: [PrefetchedRowsOfKey] = []
        for prefetched in marked.prefetches {
            guard let fetch else { break }
            let places = try prefetched.names.map { name -> Int in
                guard let place = columns.first(where: { names[$0].isSameName(as: name) }) else {
                    throw DatabaseError.misuse(
                        "\(prefetched.prefetch.key) can't be fetched: the result has no column \(name)",
                        sql: statement.sql)
                }
                return place
            }
            prefetches.append(
                PrefetchedRowsOfKey(prefetched.prefetch, prefetched.pairs.map(\.right), parentColumns: places, fetch))
        }
        var scopes: [String: PrefetchedScope] = [:]
        if query.hasClauses {
            for (index, join) in query.clauses.joins.enumerated() {
                let markedJoin = index < marked.joins.count ? marked.joins[index] : Marked()
                let (inner, innerPrefetches) = try self.scope(join.query, markedJoin, counts, &table, &column, fetch)
                scopes[join.key] = innerPrefetches
                if !inner.columns.isEmpty || !inner.scopes.isEmpty || innerPrefetches != nil {
                    scope.scopes[join.key] = inner
                }
            }
        }
        let isEmpty = prefetches.isEmpty && scopes.isEmpty
        return (scope, isEmpty ? nil : PrefetchedScope(prefetches, scopes))
    }
}

extension SelectQuery {
    /// Keeps only the columns of one table.
    fileprivate mutating func selectNothing(but table: Int, _ index: inout Int) {
        if index != table { selection = [] }
        index += 1
        guard hasClauses else { return }
        var clauses = clauses
        for join in clauses.joins.indices { clauses.joins[join].query.selectNothing(but: table, &index) }
        self.clauses = clauses
    }

    /// Whether its rows have scopes or prefetches.
    var needsPlan: Bool {
        guard hasClauses else { return false }
        let clauses = clauses
        return !clauses.prefetches.isEmpty
            || clauses.joins.contains { $0.isSelected || $0.isGrouped || $0.query.needsPlan }
    }

    /// Whether any joins are in parentheses.
    fileprivate var groupsJoins: Bool { hasClauses && clauses.joins.contains { $0.isGrouped || $0.query.groupsJoins } }

    /// Removes the parentheses around joins. The query then returns other rows, with the same columns.
    fileprivate mutating func ungroupJoins() {
        guard hasClauses else { return }
        var clauses = clauses
        for index in clauses.joins.indices {
            if clauses.joins[index].kind == .inner { clauses.joins[index].kind = .left }
            clauses.joins[index].query.ungroupJoins()
        }
        self.clauses = clauses
    }
}

extension Prefetch {
    /// The columns of the parent rows, and the equal columns of the association's first table.
    ///
    /// - throws: `SQLITE_MISUSE` if the schema doesn't determine them, or if associations with the same key differ.
    fileprivate func pairs(from origin: String, _ schema: any QuerySchema) throws -> [(left: String, right: String)] {
        func ambiguity() -> DatabaseError {
            DatabaseError.misuse(
                "two associations of a request have the key \(key), but find different rows: "
                    + "give one of them another key with forKey(_:)")
        }
        if path.isAmbiguous { throw ambiguity() }
        var left = origin
        var first: [(left: String, right: String)] = []
        for (index, step) in path.steps.enumerated() {
            let table = step.query.sourceName
            let pairs = try step.condition.pairs(from: left, to: table, schema)
            if index == 0 { first = pairs }
            for alternative in step.alternatives {
                let others = try alternative.condition.pairs(from: left, to: alternative.table, schema)
                guard alternative.table.isSameName(as: table),
                    others.elementsEqual(
                        pairs,
                        by: { $0.left.isSameName(as: $1.left) && $0.right.isSameName(as: $1.right) })
                else { throw ambiguity() }
            }
            left = table
        }
        guard !first.isEmpty else {
            throw DatabaseError.misuse(
                "\(key) can't be fetched for many rows: the association isn't one of equal columns")
        }
        return first
    }
}
