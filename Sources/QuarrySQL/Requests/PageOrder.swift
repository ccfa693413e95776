package import QuarryCore

/// The order of a request's pages: terms that together have other values in each row.
///
/// The rows after a position are found by conditions on these terms, so that a page costs the same at any depth: by
/// several queries, one after the other, until the page is full. Each is a search in an index, also if the terms have
/// different directions, or NULL at the end of the order, where one condition with OR would be a scan.
package struct PageOrder: Sendable {
    /// A term of the order.
    struct Term: Sendable {
        var expression: SQLExpression
        var isDescending: Bool
        var isNullFirst: Bool
        /// Whether the term may be NULL, as far as the schema tells.
        var mayBeNull = true
        /// Whether the term is a hidden column of a virtual table, in which an equation may be a setting.
        var isHidden = false
        /// The column of the rows with the value of the term.
        var place = Place.hidden("")
    }

    /// Where a row has the value of a term.
    package enum Place: Sendable {
        /// In a column of the request.
        case column(String)
        /// In a column that is selected for this purpose: `quarry_page_0`.
        case hidden(String)
    }

    /// The row at which a page begins or ends.
    package struct Position: Sendable, Hashable {
        /// The values of the terms.
        package var values: [DatabaseValue]
        /// Whether the row belongs to the page.
        package var isIncluded: Bool

        package init(values: [DatabaseValue], isIncluded: Bool = false) {
            self.values = values
            self.isIncluded = isIncluded
        }
    }

    /// The query without its order, with the columns for the values of the terms.
    private let query: SelectQuery
    private let terms: [Term]

    /// A number that differs for other orders, and is the same in each process.
    package let identifier: UInt64

    /// Where rows have the values of the terms.
    package var places: [Place] { terms.map(\.place) }

    /// The columns that the request doesn't have.
    package var hiddenColumns: Set<String> {
        Set(terms.compactMap { if case .hidden(let name) = $0.place { name } else { nil } })
    }

    /// - throws: `SQLITE_MISUSE` for a request whose rows have no key, or no order that is made of expressions.
    package init(of query: SelectQuery, _ schema: any QuerySchema) throws {
        var finder = PageOrderFinder(query, schema)
        terms = try finder.find()
        self.query = finder.query
        var writer = QueryWriter(schema: schema)
        let orderings = terms.map { $0.ordering }
        try writer.withTables(of: self.query, avoidingOuterNames: false) { try $0.write(orderings) }
        var hash = StableHash()
        hash.add(query.sourceName)
        hash.add(writer.sql())
        for value in writer.arguments { hash.add(value.description) }
        identifier = hash.value
    }

    /// The queries whose rows, one after the other, are those of a page and its successors: the rows that differ from
    /// the position in the last term only, then those that differ in the term before it, up to the first one.
    ///
    /// A comparison of row values would need one query, but may read all rows with the same first term: see the
    /// decision `PagesAfterARow.md`.
    ///
    /// - parameters:
    ///   - position: the row before the page; nil for the first page.
    ///   - isReversed: whether the rows are those before the position, from the last to the first.
    package func queries(from position: Position?, isReversed: Bool) -> [SelectQuery] {
        let terms = isReversed ? self.terms.map(\.reversed) : self.terms
        guard let position else { return [query(orderedBy: terms)] }
        return terms.indices.reversed().flatMap { index in
            let isIncluded = position.isIncluded && index == terms.count - 1
            let ties = zip(terms, position.values).prefix(index).map { $0.isTied(with: $1) }
            return terms[index].conditions(after: position.values[index], includingIt: isIncluded).map { condition in
                // Terms that are the same in all rows don't order them.
                var query = query(orderedBy: terms[index...])
                for condition in ties + [condition] {
                    if query.isGrouped { query.having(condition) } else { query.filter(condition) }
                }
                return query
            }
        }
    }

    private func query(orderedBy terms: some Sequence<Term>) -> SelectQuery {
        var query = query
        query.ordering = terms.map(\.ordering)
        return query
    }
}

extension PageOrder.Term {
    var reversed: Self {
        var term = self
        term.isDescending.toggle()
        term.isNullFirst.toggle()
        return term
    }

    var ordering: SQLOrdering {
        switch (isDescending, isNullFirst) {
        case (false, true): SQLOrdering(content: .expression(expression))
        case (false, false): SQLOrdering(content: .ascendingNullsLast(expression))
        case (true, false): SQLOrdering(content: .descending(expression))
        case (true, true): SQLOrdering(content: .descendingNullsFirst(expression))
        }
    }

    static func comparison(_ isDescending: Bool, _ isIncluded: Bool) -> ExpressionNode.InfixOperator {
        switch (isDescending, isIncluded) {
        case (false, false): .greater
        case (false, true): .greaterOrEqual
        case (true, false): .less
        case (true, true): .lessOrEqual
        }
    }

    /// The condition that the term has a value.
    func isTied(with value: DatabaseValue) -> SQLExpression {
        if isHidden, !value.isNull {
            // `rank = x` would set the ranking function of FTS5:
            // https://www.sqlite.org/fts5.html#the_auxiliary_functions
            return .node(.between(expression, value.sqlExpression, value.sqlExpression, isNegated: false))
        }
        return .equality(expression, .equal, value.sqlExpression)
    }

    /// Conditions for the rows whose term comes after a value, in the order of their rows.
    func conditions(after value: DatabaseValue, includingIt isIncluded: Bool) -> [SQLExpression] {
        let isNull = SQLExpression.equality(expression, .equal, .null)
        if value.isNull {
            let others = isNullFirst ? [SQLExpression.equality(expression, .notEqual, .null)] : []
            return isIncluded ? [isNull] + others : others
        }
        let isAfter = SQLExpression.infix(expression, Self.comparison(isDescending, isIncluded), value.sqlExpression)
        return mayBeNull && !isNullFirst ? [isAfter, isNull] : [isAfter]
    }
}

extension SelectQuery {
    /// Whether a row of the result is a group of rows.
    var isGrouped: Bool { hasClauses && (clauses.groupsByPrimaryKey || !clauses.grouping.isEmpty) }
}

/// A hash of text that is the same in each process: FNV-1a of 64 bits.
private struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
        // No byte of UTF-8: texts that are added one after the other differ from one text.
        add(0xff)
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
}
