import QuarryCore

/// The steps of an association: tables, each joined to the previous one, the first one to the origin.
package struct AssociationPath: Sendable {
    package struct Step: Sendable {
        package var key: AssociationKey
        package var condition: Join.Condition
        package var query: SelectQuery
        /// The conditions of merged associations, which must be equal.
        package var alternatives: [Join.Alternative] = []

        package init(key: AssociationKey, condition: Join.Condition, query: SelectQuery) {
            self.key = key
            self.condition = condition
            self.query = query
        }
    }

    /// The steps before the last one, from `through:`.
    package var pivots: [Step]
    package var last: Step
    /// Whether the path was merged with an association that has other steps.
    package var isAmbiguous = false

    package init(_ step: Step) {
        pivots = []
        last = step
    }

    /// The path of an association through another one.
    package init(_ pivot: AssociationPath, _ target: AssociationPath) {
        pivots = pivot.steps + target.pivots
        last = target.last
    }

    package var steps: [Step] { pivots + [last] }

    /// The tables of the path, joined.
    ///
    /// - parameter isSelected: whether the last table's columns are selected.
    package func join(_ kind: Join.Kind, isSelected: Bool) -> Join {
        var join = Join(
            key: last.key.singular, kind: kind, condition: last.condition, query: last.query, isSelected: isSelected)
        for step in pivots.reversed() {
            var query = step.query
            query.join(join)
            join = Join(key: step.key.singular, kind: kind, condition: step.condition, query: query, isSelected: false)
        }
        return join
    }

    /// The rows of the last table, joined to the pivots in reverse order, so that the columns of the first table select
    /// them.
    ///
    /// - parameter change: changes the query of the first step's table.
    package func reversedQuery(_ change: (inout SelectQuery) -> Void) -> SelectQuery {
        let steps = steps
        var query = steps[0].query
        if steps.count == 1 {
            change(&query)
            return query
        }
        change(&query)
        for index in 1..<steps.count {
            var next = steps[index].query
            var joins = next.hasClauses ? next.clauses.joins : []
            let pivot = Join(
                key: steps[index - 1].key.singular, kind: .inner, condition: steps[index].condition.reversed,
                query: query, isSelected: false)
            // First, because the pivot's columns select the rows.
            joins.insert(pivot, at: 0)
            next.clauses.joins = joins
            query = next
        }
        return query
    }
}

/// The prefetch of an association, for all rows of a query at once.
package struct Prefetch: Sendable {
    package var path: AssociationPath

    /// The name of the list.
    package var key: String { path.last.key.plural }

    package init(_ path: AssociationPath) {
        self.path = path
    }
}

// MARK: - Merging

extension SelectQuery {
    /// Joins a table, or modifies the join with the same key, so that an association is joined once.
    package mutating func join(_ join: Join) {
        var clauses = clauses
        if let index = clauses.joins.firstIndex(where: { $0.key.isSameName(as: join.key) }) {
            clauses.joins[index].merge(join)
        } else {
            clauses.joins.append(join)
        }
        self.clauses = clauses
    }

    /// Prefetches rows, or modifies the prefetch with the same key.
    package mutating func prefetch(_ prefetch: Prefetch) {
        var clauses = clauses
        if let index = clauses.prefetches.firstIndex(where: { $0.key == prefetch.key }) {
            clauses.prefetches[index].merge(prefetch)
        } else {
            clauses.prefetches.append(prefetch)
        }
        self.clauses = clauses
    }

    /// Adds the clauses of another query of the same table.
    fileprivate mutating func merge(_ other: SelectQuery, selects: Bool) {
        if selects { selection = other.selection }
        // Conditions of a common base association are the same objects, and are added once.
        let known = filter?.conditions ?? []
        for condition in other.filter?.conditions ?? [] where !known.contains(where: { $0.isSameObject(as: condition) })
        {
            filter(condition)
        }
        if !other.ordering.isEmpty {
            ordering = other.ordering
            isReversed = other.isReversed
        } else if other.isReversed {
            isReversed.toggle()
        }
        isDistinct = isDistinct || other.isDistinct
        limit = other.limit ?? limit
        for identity in other.identities where !identities.contains(where: { $0 === identity }) {
            identities.append(identity)
        }
        guard other.hasClauses else { return }
        let clauses = other.clauses
        if !clauses.grouping.isEmpty || clauses.groupsByPrimaryKey {
            self.clauses.grouping = clauses.grouping
            self.clauses.groupsByPrimaryKey = clauses.groupsByPrimaryKey
        }
        if let condition = clauses.having { having(condition) }
        for join in clauses.joins { self.join(join) }
        for table in clauses.tables { name(table) }
        for prefetch in clauses.prefetches { self.prefetch(prefetch) }
    }
}

extension Join {
    fileprivate mutating func merge(_ other: Join) {
        if other.kind == .inner { kind = .inner }
        alternatives.append(Alternative(condition: other.condition, table: other.query.sourceName))
        alternatives += other.alternatives
        query.merge(other.query, selects: other.isSelected)
        isSelected = isSelected || other.isSelected
    }
}

extension Prefetch {
    fileprivate mutating func merge(_ other: Prefetch) {
        // If the paths have different lengths, the first one is used, and marked as ambiguous.
        for (index, pivot) in other.path.pivots.enumerated() where path.pivots.indices.contains(index) {
            // Rows behind pivots with different keys are different rows.
            if path.pivots[index].key.plural != pivot.key.plural { path.isAmbiguous = true }
            path.pivots[index].merge(pivot, selects: false)
        }
        path.last.merge(other.path.last, selects: true)
        path.isAmbiguous = path.isAmbiguous || other.path.isAmbiguous || path.pivots.count != other.path.pivots.count
    }
}

extension AssociationPath.Step {
    fileprivate mutating func merge(_ other: AssociationPath.Step, selects: Bool) {
        alternatives.append(Join.Alternative(condition: other.condition, table: other.query.sourceName))
        alternatives += other.alternatives
        query.merge(other.query, selects: selects)
    }
}

extension SQLExpression {
    /// The operands of AND in this condition; the condition itself otherwise.
    fileprivate var conditions: [SQLExpression] { operands(of: .and) }

    fileprivate func isSameObject(as other: SQLExpression) -> Bool {
        if case .node(let node) = content, case .node(let otherNode) = other.content {
            node === otherNode
        } else {
            false
        }
    }
}
