import Quarry
import QuarryTestSupport

/// A request for rows of a table, or of two that are joined, and what it must find.
struct RandomRequest {
    enum Means: CaseIterable {
        /// `join(_:_:on:)`
        case join
        /// `joining(required:)`, where the first column of `keys` equals the second.
        case association
    }

    struct Order {
        enum Direction: CaseIterable {
            case bare, ascending, descending, ascendingNullsLast, descendingNullsFirst
        }

        enum Term {
            case column(table: Int, column: Int)
            case condition(RandomCondition)
        }

        let term: Term
        let direction: Direction
    }

    let schema: RandomSchema
    /// The tables of the request, which may be one and the same.
    private let tables: [Int]
    private let aliases: [String?]
    private let means: Means
    private let keys: [Int]
    private let joinCondition: RandomCondition?
    private let filters: [RandomCondition]
    /// They end with the numbers of the rows; nil for no order.
    private let orders: [Order]?
    private let isReversed: Bool
    private let limit: (count: Int, offset: Int?)?
    /// nil for all columns of the first table.
    private let selection: [(table: Int, column: Int)]?

    var isJoined: Bool { tables.count == 2 }
    var isOrdered: Bool { orders != nil }

    init(schema: RandomSchema, using random: inout SeededGenerator) {
        self.schema = schema
        let count = Int.random(in: 0..<5, using: &random) < 2 ? 2 : 1
        tables = (0..<count).map { _ in schema.tables.indices.randomElement(using: &random)! }
        let parts = RandomParts(schema: schema, tables: tables)
        let name = RandomSchema.name(unlike: [], using: &random)
        let otherName = RandomSchema.name(unlike: [name], using: &random)
        aliases = [name, otherName].map { Bool.random(using: &random) ? $0 : nil }
        means = Means.allCases.randomElement(using: &random)!
        keys = tables.indices.map { parts.column(of: $0, using: &random) }
        joinCondition = Int.random(in: 0..<4, using: &random) > 0 ? parts.condition(depth: 1, using: &random) : nil
        filters = (0..<Int.random(in: 0...2, using: &random)).map { _ in parts.condition(depth: 3, using: &random) }
        let isOrdered = Int.random(in: 0..<4, using: &random) > 0
        orders = isOrdered ? parts.orders(using: &random) : nil
        isReversed = Int.random(in: 0..<4, using: &random) == 0
        let isLimited = isOrdered && Bool.random(using: &random)
        let offset = [nil, 0, 1, 5].randomElement(using: &random)!
        limit = isLimited ? (Int.random(in: 0...8, using: &random), offset) : nil
        let selected = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let table = Int.random(in: 0..<count, using: &random)
            return (table: table, column: parts.column(of: table, using: &random))
        }
        selection = Bool.random(using: &random) ? selected : nil
    }
}

// MARK: - As a request

extension RandomRequest {
    var request: QueryInterfaceRequest<Row> {
        let aliases = aliases.map { TableAlias<Row>(name: $0) }
        // A table that is alone may be without an alias.
        let isAliased = isJoined || self.aliases[0] != nil
        func column(_ table: Int, _ column: Int) -> SQLExpression {
            let name = schema.tables[tables[table]].columns[column]
            return isAliased ? aliases[table][Column(name)] : Column(name).sqlExpression
        }
        func expression(_ condition: RandomCondition) -> SQLExpression {
            condition.expression(column: column) { table, column in
                let table = schema.tables[table]
                return Table(table.name).select(Column(table.columns[column]))
            }
        }
        var request = Table(schema.tables[tables[0]].name).all()
        if isAliased { request = request.aliased(aliases[0]) }
        if isJoined {
            let (first, second) = (schema.tables[tables[0]], schema.tables[tables[1]])
            let condition = joinCondition.map(expression)
            switch means {
            case .join:
                request = request.join(.inner, Table(second.name).aliased(aliases[1]), on: condition)
            case .association:
                let key = ForeignKey([first.columns[keys[0]]], to: [second.columns[keys[1]]])
                let association = Table(first.name).belongsTo(Table(second.name), using: key).aliased(aliases[1])
                request = request.joining(required: condition.map { association.filter($0) } ?? association)
            }
        }
        for filter in filters { request = request.filter(expression(filter)) }
        if let orders {
            request = request.order(
                orders.map { order in
                    switch order.term {
                    case .column(let table, let index): order.direction.ordering(column(table, index))
                    case .condition(let condition): order.direction.ordering(expression(condition))
                    }
                })
            if isReversed { request = request.reversed() }
        }
        if let limit { request = request.limit(limit.count, offset: limit.offset) }
        if let selection { request = request.select(selection.map { column($0.table, $0.column) }) }
        return request
    }
}

extension RandomRequest.Order.Direction {
    fileprivate func ordering(_ expression: SQLExpression) -> any SQLOrderingTerm {
        switch self {
        case .bare: expression
        case .ascending: expression.asc
        case .descending: expression.desc
        case .ascendingNullsLast: expression.ascNullsLast
        case .descendingNullsFirst: expression.descNullsFirst
        }
    }
}

// MARK: - As what it finds

extension RandomRequest {
    /// The names of the columns.
    var columns: [String] {
        let first = schema.tables[tables[0]].columns
        return selection?.map { schema.tables[tables[$0.table]].columns[$0.column] } ?? first
    }

    /// The rows, in their order if they have one.
    var rows: [[DatabaseValue]] {
        var found = schema.tables[tables[0]].rows.map { [$0] }
        let all = schema.tables.map(\.rows)
        if isJoined {
            found = found.flatMap { rows in all[tables[1]].map { rows + [$0] } }
            if means == .association {
                let isEqual = RandomCondition.comparison(
                    .column(table: 0, column: keys[0]), .equal, .column(table: 1, column: keys[1]))
                found = found.filter { isEqual.holds(for: $0, in: all) == true }
            }
            if let joinCondition { found = found.filter { joinCondition.holds(for: $0, in: all) == true } }
        }
        for filter in filters { found = found.filter { filter.holds(for: $0, in: all) == true } }
        if let orders {
            found.sort { lhs, rhs in
                for order in orders {
                    let comparison = order.direction.order(order.term.value(lhs, all), order.term.value(rhs, all))
                    if comparison != 0 { return comparison < 0 }
                }
                return false
            }
            if isReversed { found.reverse() }
        }
        if let limit { found = Array(found.dropFirst(limit.offset ?? 0).prefix(limit.count)) }
        guard let selection else { return found.map { $0[0] } }
        return found.map { rows in selection.map { rows[$0.table][$0.column] } }
    }
}

extension RandomRequest.Order.Term {
    fileprivate func value(_ rows: [[DatabaseValue]], _ tables: [[[DatabaseValue]]]) -> DatabaseValue {
        switch self {
        case .column(let table, let column): rows[table][column]
        case .condition(let condition): condition.holds(for: rows, in: tables)?.databaseValue ?? .null
        }
    }
}

extension RandomRequest.Order.Direction {
    fileprivate func order(_ lhs: DatabaseValue, _ rhs: DatabaseValue) -> Int {
        let order = storageOrder(lhs, rhs)
        let isBesideNull = lhs.isNull || rhs.isNull
        return switch self {
        case .bare, .ascending: order
        case .descending: -order
        case .ascendingNullsLast: isBesideNull ? -order : order
        case .descendingNullsFirst: isBesideNull ? order : -order
        }
    }
}
