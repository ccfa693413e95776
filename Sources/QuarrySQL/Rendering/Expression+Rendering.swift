package import QuarryCore

extension QueryWriter {
    /// Writes an expression without other expressions beside it.
    package mutating func write(_ expression: SQLExpression) throws {
        switch expression.content {
        case .value(let value): write(value)
        case .column(let name): write(column: name)
        case .node:
            guard let node = expression.node else { return }
            // A node's own depth doesn't include parts that are only known once a schema is available.
            guard depth + Int(node.depth) <= NestingDepth.maximum else { throw NestingDepth.error }
            depth += 1
            if case .association(_, let association) = node.kind, node.isLong {
                try write(.association(expression.operands(of: association), association))
            } else {
                try write(node.kind)
            }
            depth -= 1
        }
    }

    /// Writes an expression among others: a compound expression gets parentheses.
    mutating func write(operand expression: SQLExpression) throws {
        let isCompound = try isCompound(expression)
        if isCompound { write("(") }
        try write(expression)
        if isCompound { write(")") }
    }

    private func isCompound(_ expression: SQLExpression) throws -> Bool {
        switch expression.kind {
        case nil, .aliasedColumn, .rowIdentity, .columnNumber, .detachedColumn, .subquery, .cast, .choice, .rowValue:
            false
        case .function(let call): call.filter != nil || call.window != nil
        case .inList(_, let list, _): !list.isEmpty
        case .exists(_, let isNegated): isNegated
        case .of(_, let expression): try isCompound(expression)
        default: true
        }
    }

    private mutating func write(_ kind: ExpressionNode.Kind) throws {
        switch kind {
        case .aliasedColumn(let name, let table): try write(column: name, of: table)
        case .detachedColumn(let name): write(identifier: name)
        case .sql(let sql): try write(literal: sql)
        case .equality(let lhs, let equality, let rhs): try write(lhs, equality, rhs)
        case .infix(let lhs, let infix, let rhs):
            try write(operand: lhs)
            write(" ")
            write(sql: infix.rawValue)
            write(" ")
            try write(operand: rhs)
        case .association(let operands, let association):
            var isFirst = true
            for operand in try flattened(operands, association) {
                if !isFirst {
                    write(" ")
                    write(sql: association.rawValue)
                    write(" ")
                }
                isFirst = false
                try write(operand: operand)
            }
        case .prefix(let prefix, let operand):
            write(sql: prefix.rawValue)
            try write(operand: operand)
        case .between(let value, let low, let high, let isNegated):
            try write(operand: value)
            write(isNegated ? " NOT BETWEEN " : " BETWEEN ")
            try write(operand: low)
            write(" AND ")
            try write(operand: high)
        case .inList(_, let list, let isNegated) where list.isEmpty: write(isNegated ? "1" : "0")
        case .inList(let value, let list, let isNegated):
            try write(operand: value)
            write(isNegated ? " NOT IN (" : " IN (")
            try write(list: list) { try $0.write($1) }
            write(")")
        case .inQuery(let value, let query, let isNegated):
            try write(operand: value)
            write(isNegated ? " NOT IN " : " IN ")
            try write(inParentheses: query)
        case .pattern(let value, let pattern, let text, let escape, let isNegated):
            try write(operand: value)
            write(isNegated ? " NOT " : " ")
            write(sql: pattern.rawValue)
            write(" ")
            try write(operand: text)
            if let escape {
                write(" ESCAPE ")
                try write(operand: escape)
            }
        case .subquery(let query): try write(inParentheses: query, selectsName: true)
        case .exists(let query, let isNegated):
            write(isNegated ? "NOT EXISTS " : "EXISTS ")
            try write(inParentheses: query, selectsName: true)
        case .function(let call): try write(call)
        case .cast(let expression, let type):
            write("CAST(")
            try write(expression)
            write(" AS ")
            write(sql: type)
            write(")")
        case .collated(let expression, let collation): try write(expression, collatedBy: collation)
        case .rowExists(let table, let isNegated): try write(existenceOf: table, isNegated)
        case .rowIdentity(let table): try write(rowIdentityOf: table)
        case .columnNumber(let column, let table):
            let columns = try schema.columnNames(of: table)
            guard let number = columns.firstIndex(where: { $0.isSameName(as: column) }) else {
                throw DatabaseError.misuse("table \(table) has no column named \(column)")
            }
            write(sql: String(number))
        case .key(let condition): try write(condition)
        case .choice(let choice): try write(choice)
        case .rowValue(let values):
            if values.isEmpty { throw DatabaseError.misuse("a row value has no values") }
            write("(")
            try write(list: values) { try $0.write($1) }
            write(")")
        case .of(let table, let expression):
            let index = scopes.last?.tables.firstIndex { $0.identities.contains { $0 === table } }
            guard let index else { return try write(expression) }
            try withCurrent(index) { try $0.write(expression) }
        case .deferred(let expression): try write(expression(schema))
        }
    }

    /// The operands, with each deferred operand of the same operator replaced by its own operands.
    private func flattened(
        _ operands: [SQLExpression], _ association: ExpressionNode.AssociativeOperator
    ) throws -> [SQLExpression] {
        guard association.isFlattened, operands.contains(where: \.isDeferred) else { return operands }
        return try operands.flatMap { operand -> [SQLExpression] in
            guard case .deferred(let expression) = operand.kind else { return [operand] }
            let found = try expression(schema)
            if case .association(_, association) = found.kind {
                return try flattened(found.operands(of: association), association)
            }
            return [found]
        }
    }

    private mutating func write(
        _ lhs: SQLExpression, _ equality: ExpressionNode.Equality, _ rhs: SQLExpression
    ) throws {
        if rhs.isNull, case .value = lhs.content, !lhs.isNull {
            // Newer versions of SQLite evaluate the text "5 IS NOT NULL" to the number 1, which ORDER BY would take for
            // the index of a column. They leave "NULL IS NOT 5" unchanged.
            switch equality {
            case .is, .equal: write("NULL IS ")
            case .isNot, .notEqual: write("NULL IS NOT ")
            }
            return try write(lhs)
        }
        try write(operand: lhs)
        if rhs.isNull {
            switch equality {
            case .is, .equal: return write(" IS NULL")
            case .isNot, .notEqual: return write(" IS NOT NULL")
            }
        }
        switch equality {
        case .equal: write(" = ")
        case .notEqual: write(" <> ")
        case .is: write(" IS ")
        case .isNot: write(" IS NOT ")
        }
        try write(operand: rhs)
    }

    /// COLLATE belongs to an operand, and thereby to its comparison. If there are several comparisons, it belongs to
    /// each.
    private mutating func write(_ expression: SQLExpression, collatedBy collation: SQLCollationName) throws {
        func collated(_ expression: SQLExpression) -> SQLExpression { .node(.collated(expression, collation)) }
        switch expression.kind {
        case .association(_, let association) where association == .and || association == .or:
            return try write(.association(expression.operands(of: association).map(collated), association))
        // IN compares by the collation of its left side, BETWEEN by the collation of its first operand: a collation
        // after either would apply to the result.
        // https://www.sqlite.org/datatype3.html#assigning_collating_sequences_from_sql
        case .inList(let value, let list, let isNegated) where !list.isEmpty:
            return try write(.inList(collated(value), list, isNegated: isNegated))
        case .inQuery(let value, let query, let isNegated):
            return try write(.inQuery(value.isRow ? value : collated(value), query, isNegated: isNegated))
        case .between(let value, let low, let high, let isNegated):
            return try write(.between(collated(value), low, high, isNegated: isNegated))
        case .prefix(.not, let condition): return try write(.prefix(.not, collated(condition)))
        case .of(let table, let expression): return try write(.of(table, collated(expression)))
        case .deferred(let expression): return try write(collated(expression(schema)))
        case .equality, .infix:
            try write(expression)
        default:
            try write(operand: expression)
        }
        write(" COLLATE ")
        write(sql: collation.sql)
    }

    private mutating func write(existenceOf table: TableIdentity, _ isNegated: Bool) throws {
        guard let found = foundTable(of: table) else {
            throw DatabaseError.misuse("exists needs an alias of a table that the request uses")
        }
        if let column = try found.rowColumn(schema) {
            try write(column: column, of: table)
            return write(isNegated ? " IS NULL" : " IS NOT NULL")
        }
        guard let columns = try found.columnsWithoutKey(self) else {
            throw DatabaseError.misuse("exists can't be used for \(found.name), which has no column that is never NULL")
        }
        try write(existenceOf: table, columns, isNegated)
    }

    /// Whether a column has a value. A row in which no column has one isn't found.
    private mutating func write(existenceOf table: TableIdentity, _ columns: [String], _ isNegated: Bool) throws {
        try write(list: columns, separator: isNegated ? " AND " : " OR ") { writer, column in
            writer.write("(")
            try writer.write(column: column, of: table)
            writer.write(isNegated ? " IS NULL)" : " IS NOT NULL)")
        }
    }

    private mutating func write(rowIdentityOf table: TableIdentity) throws {
        guard let found = foundTable(of: table) else {
            throw DatabaseError.misuse("rows can only be counted in a table")
        }
        let key = try schema.keyColumns(of: found.name)
        let column = try found.rowColumn(schema)
        if let column, key.count == 1 || !key.contains(column) { return try write(column: column, of: table) }
        guard let columns = try column == nil ? found.columnsWithoutKey(self) : key else {
            throw DatabaseError.misuse("rows of \(found.name) can't be counted: no column is never NULL")
        }
        // No single column is unique, but the literals of all these columns together are.
        write("CASE WHEN ")
        if let column {
            try write(column: column, of: table)
            write(" IS NOT NULL")
        } else {
            try write(existenceOf: table, columns, false)
        }
        write(" THEN ")
        try write(list: columns, separator: " || ',' || ") { writer, column in
            writer.write("QUOTE(")
            try writer.write(column: column, of: table)
            writer.write(")")
        }
        write(" END")
    }

    /// A table with a schema, or a subquery on it.
    private struct FoundTable {
        var name: String
        /// The query whose result takes the table's place; nil for the table itself.
        var subquery: SelectQuery?

        /// The column that `schema.rowColumn(of:)` returns; nil if the result has none.
        func rowColumn(_ schema: any QuerySchema) throws -> String? {
            guard try !schema.isViewWithoutKey(name), let column = try schema.rowColumn(of: name) else { return nil }
            // A subquery doesn't have the rowid of its table.
            if subquery != nil, try !schema.columnNames(of: name).contains(where: { $0.isSameName(as: column) }) {
                return nil
            }
            return column
        }

        /// The columns of a view or a subquery; nil for a table.
        func columnsWithoutKey(_ writer: QueryWriter) throws -> [String]? {
            let columns = try writer.schema.columnNames(of: name)
            guard let subquery else { return try writer.schema.isViewWithoutKey(name) ? columns : nil }
            let selected = try columns.filter { try writer.selects($0, subquery) }
            return selected.isEmpty ? nil : selected
        }
    }

    /// The table with that identity.
    private func foundTable(of identity: TableIdentity) -> FoundTable? {
        for scope in scopes.reversed() {
            guard let table = scope.tables.first(where: { $0.identities.contains { $0 === identity } }) else {
                continue
            }
            if let name = table.query.tableName { return FoundTable(name: name) }
            guard table.query.hasClauses, let name = table.query.clauses.derivedTable,
                case .query(let subquery) = table.query.source, case .query(let query) = subquery.content
            else { return nil }
            return FoundTable(name: name, subquery: query)
        }
        return nil
    }

    // MARK: - Functions

    private mutating func write(_ call: FunctionCall) throws {
        if let requirement = call.requirement { try require(requirement, for: call.name) }
        if !call.ordering.isEmpty { try require(.version(3_044_000), for: "ORDER BY inside of \(call.name)") }
        write(sql: call.name)
        write("(")
        if call.isDistinct { write("DISTINCT ") }
        if call.takesRow { write("*") }
        try write(list: call.arguments) { try $0.write($1) }
        if !call.ordering.isEmpty {
            write(" ORDER BY ")
            try write(call.ordering)
        }
        write(")")
        if let filter = call.filter {
            write(" FILTER (WHERE ")
            try write(filter)
            write(")")
        }
        switch call.window {
        case .named(let name):
            write(" OVER ")
            write(identifier: name)
        case .defined(let window):
            write(" OVER ")
            try write(window)
        case nil: break
        }
    }

    /// `("base" PARTITION BY x ORDER BY y ROWS …)`
    mutating func write(_ window: WindowDefinition) throws {
        var separator: StaticString = ""
        func next(_ writer: inout QueryWriter) {
            writer.write(separator)
            separator = " "
        }
        write("(")
        if let base = window.base {
            next(&self)
            write(identifier: base)
        }
        if !window.partition.isEmpty {
            next(&self)
            write("PARTITION BY ")
            try write(list: window.partition) { try $0.write($1) }
        }
        if !window.ordering.isEmpty {
            next(&self)
            write("ORDER BY ")
            try write(window.ordering)
        }
        if let frame = window.frame {
            next(&self)
            write(sql: frame)
        }
        write(")")
    }

    private mutating func write(_ choice: CaseExpression) throws {
        write("CASE")
        if let base = choice.base {
            write(" ")
            try write(operand: base)
        }
        for branch in choice.branches {
            write(" WHEN ")
            try write(branch.condition)
            write(" THEN ")
            try write(branch.result)
        }
        if let otherwise = choice.otherwise {
            write(" ELSE ")
            try write(otherwise)
        }
        write(" END")
    }

    // MARK: - Keys

    private mutating func write(_ condition: ExpressionNode.KeyCondition) throws {
        let table = try currentTable()
        switch condition {
        case .values(_, let values):
            let columns = try schema.keyColumns(of: table)
            guard columns.count == 1 else {
                throw DatabaseError.misuse(
                    "table \(table) has a primary key of \(columns.count) columns (\(columns.joined(separator: ", "))): "
                        + "filter by a dictionary of them")
            }
            // NULL is never equal to a key.
            let values = values(columns[0]).filter { !$0.isNull }.map(\.sqlExpression)
            try write(.membership(of: SQLExpression(content: .column(columns[0])), in: values))
        case .columns(let keys):
            var conditions: [SQLExpression] = []
            for key in keys {
                let columns = try uniqueColumns(Array(key.keys), table)
                let equalities = columns.map { name, column -> SQLExpression in
                    .equality(SQLExpression(content: .column(column)), .equal, (key[name] ?? .null).sqlExpression)
                }
                conditions.append(equalities.joined(operator: .and))
            }
            if conditions.isEmpty { return write("0") }
            try write(conditions.joined(operator: .or))
        }
    }

    /// The columns that identify a row, each with the name that the caller used: first the columns of a unique key, in
    /// the key's order, then the others.
    private func uniqueColumns(_ names: [String], _ table: String) throws -> [(name: String, column: String)] {
        func find(_ column: String) -> (name: String, column: String)? {
            names.first { $0.isSameName(as: column) }.map { (name: $0, column: column) }
        }
        for key in try schema.uniqueKeys(of: table) where !key.isEmpty && key.count <= names.count {
            let pairs = key.compactMap(find)
            guard pairs.count == key.count else { continue }
            if pairs.count == names.count { return pairs }
            let columns = try schema.columnNames(of: table)
            let others = columns.filter { column in !key.contains { $0.isSameName(as: column) } }.compactMap(find)
            // SQLite would take an unknown name for a text.
            if pairs.count + others.count == names.count { return pairs + others }
        }
        let list = names.sorted().map { String(reflecting: $0) }.joined(separator: ", ")
        throw DatabaseError.misuse("table \(table) has no unique key on \(list.isEmpty ? "no column" : list)")
    }
}

extension SQLExpression {
    fileprivate var isDeferred: Bool {
        if case .deferred = kind { true } else { false }
    }

    fileprivate var isRow: Bool {
        if case .rowValue = kind { true } else { false }
    }

    /// Whether the expression aggregates many rows to one value.
    var isAggregate: Bool {
        if isTooDeep { return false }
        return switch kind {
        case .function(let call):
            call.isAggregate && call.window == nil || call.arguments.contains { $0.isAggregate }
        case .equality(let lhs, _, let rhs), .infix(let lhs, _, let rhs): lhs.isAggregate || rhs.isAggregate
        case .association(_, let association): operands(of: association).contains { $0.isAggregate }
        case .prefix(_, let x), .cast(let x, _), .collated(let x, _), .of(_, let x), .inQuery(let x, _, _):
            x.isAggregate
        case .between(let x, let low, let high, _): x.isAggregate || low.isAggregate || high.isAggregate
        case .inList(let x, let list, _): x.isAggregate || list.contains { $0.isAggregate }
        case .pattern(let x, _, let pattern, let escape, _):
            x.isAggregate || pattern.isAggregate || escape?.isAggregate == true
        case .rowValue(let values): values.contains { $0.isAggregate }
        case .choice(let choice):
            choice.base?.isAggregate == true || choice.otherwise?.isAggregate == true
                || choice.branches.contains { $0.condition.isAggregate || $0.result.isAggregate }
        default: false
        }
    }
}
