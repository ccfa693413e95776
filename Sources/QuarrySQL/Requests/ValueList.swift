public import QuarryCore

/// Rows written in SQL: `VALUES (1, 'Arthur'), (2, 'Barbara')`.
///
/// ```swift
/// let list = ValueList([[1, "Arthur"], [2, "Barbara"]])
/// list.all(columns: ["id", "name"])  // SELECT "column1" AS "id", "column2" AS "name" FROM (VALUES (1, 'Arthur'), …)
/// CommonTableExpression(named: "v", columns: ["id", "name"], request: list, as: Row.self)
/// list.contains(rowValue(Column("id"), Column("name")))  // ("id", "name") IN (VALUES (1, 'Arthur'), …)
/// ```
///
/// There must be at least one row, and all rows must have the same number of values; otherwise a request throws. See
/// <https://www.sqlite.org/lang_select.html#the_values_clause>.
public struct ValueList: SQLSubqueryable, Sendable {
    package let rows: [[SQLExpression]]

    /// A list of rows.
    public init(_ rows: some Sequence<[any SQLExpressible]>) {
        self.rows = rows.map { $0.map(\.sqlExpression) }
    }

    /// A list of rows with one value each.
    public init(_ values: some Sequence<any SQLExpressible>) {
        rows = values.map { [$0.sqlExpression] }
    }

    /// The rows of row values.
    init(rowValues: [SQLExpression]) {
        rows = rowValues.map { value in
            if case .rowValue(let values) = value.kind { values } else { [value] }
        }
    }

    /// The rows as a subquery.
    public var sqlSubquery: SQLSubquery { SQLSubquery(content: .values(self)) }

    /// A request for the rows, with the columns `column1`, `column2` and so on.
    ///
    /// ```sql
    /// SELECT * FROM (VALUES (1, 'Arthur'), (2, 'Barbara')) "subquery"
    /// ```
    public func all() -> QueryInterfaceRequest<Row> {
        QueryInterfaceRequest(query: SelectQuery(.query(sqlSubquery)))
    }

    /// A request for the rows, with named columns.
    ///
    /// ```sql
    /// SELECT * FROM (SELECT "column1" AS "id", "column2" AS "name" FROM (VALUES (1, 'Arthur')) "subquery") "subquery"
    /// ```
    public func all(columns: [String]) -> QueryInterfaceRequest<Row> {
        var query = SelectQuery(.query(sqlSubquery))
        query.selection = columns.enumerated().map { index, name in
            SQLSelection(content: .named(SQLExpression(content: .column("column\(index + 1)")), name))
        }
        return QueryInterfaceRequest(query: query.enclosed())
    }
}

extension ValueList {
    /// The depth of the deepest expression inside.
    var depth: Int { rows.reduce(0) { $1.reduce($0) { Swift.max($0, $1.depth) } } }
}

extension QueryWriter {
    /// `VALUES (1, 'Arthur'), (2, 'Barbara')`
    mutating func write(rows: [[SQLExpression]]) throws {
        guard let first = rows.first, !first.isEmpty else {
            throw DatabaseError.misuse("a list of values has no values")
        }
        write("VALUES ")
        var index = 0
        try write(list: rows) { writer, row in
            index += 1
            guard row.count == first.count else {
                throw DatabaseError.misuse(
                    "row \(index) of a list of values has \(row.count) values, and the first has \(first.count)")
            }
            writer.write("(")
            try writer.write(list: row) { try $0.write($1) }
            writer.write(")")
        }
    }
}
