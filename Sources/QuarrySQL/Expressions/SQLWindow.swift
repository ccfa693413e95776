public import QuarryCore

/// The rows of a window function, and their order: `(PARTITION BY x ORDER BY y)`.
///
/// ```swift
/// let window = SQLWindow(partitionBy: [Column("teamId")], orderBy: [Column("score").desc])
/// Player.annotated(with: rowNumber().over(window).forKey("place"))
/// ```
/// ```sql
/// SELECT *, ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) AS "place" FROM "player"
/// ```
///
/// See <https://www.sqlite.org/windowfunctions.html>.
public struct SQLWindow: Sendable {
    package let definition: WindowDefinition

    /// A window.
    ///
    /// - parameter base: the name of a window of the request, whose partition and order this window inherits.
    /// - parameter partition: the expressions whose values form a partition; none for a single partition of all rows.
    /// - parameter ordering: the order of the rows.
    /// - parameter frame: the frame of a row; nil for the rows from the partition's first to the last one equal in the
    ///   order.
    public init(
        basedOn base: String? = nil, partitionBy partition: [any SQLExpressible] = [],
        orderBy ordering: [any SQLOrderingTerm] = [], frame: WindowFrame? = nil
    ) {
        var definition = WindowDefinition()
        definition.base = base
        definition.partition = partition.map(\.sqlExpression)
        definition.ordering = ordering.map(\.sqlOrdering)
        definition.frame = frame?.sql
        self.definition = definition
    }
}

extension SQLExpression {
    /// The function over a window: `SUM(x) OVER (…)`.
    ///
    /// ```swift
    /// Player.annotated(with: sum(Column("score")).over(SQLWindow(orderBy: [Column("id")])).forKey("running"))
    /// ```
    /// ```sql
    /// SELECT *, SUM("score") OVER (ORDER BY "id") AS "running" FROM "player"
    /// ```
    ///
    /// A request throws if the expression isn't a function. See <https://www.sqlite.org/windowfunctions.html>.
    public func over(_ window: SQLWindow) -> SQLExpression { over(.defined(window.definition)) }

    /// The function over a window that the request names: `SUM(x) OVER "w"`.
    ///
    /// ```swift
    /// Player.all()
    ///     .annotated(with: rank().over("best").forKey("rank"))
    ///     .window("best", SQLWindow(orderBy: [Column("score").desc]))
    /// ```
    /// ```sql
    /// SELECT *, RANK() OVER "best" AS "rank" FROM "player" WINDOW "best" AS (ORDER BY "score" DESC)
    /// ```
    public func over(_ windowName: String) -> SQLExpression { over(.named(windowName)) }

    /// The function over rows in an order: `RANK() OVER (PARTITION BY x ORDER BY y)`.
    ///
    /// ```swift
    /// rank().over(partitionBy: [Column("teamId")], orderBy: [Column("score").desc, Column("name")])
    /// ```
    /// ```sql
    /// RANK() OVER (PARTITION BY "teamId" ORDER BY "score" DESC, "name")
    /// ```
    ///
    /// - parameter partition: the expressions whose values form a partition; none for a single partition of all rows.
    /// - parameter ordering: the order of the rows.
    /// - parameter frame: the frame of a row; nil for the rows from the partition's first to the last one equal in the
    ///   order.
    public func over(
        partitionBy partition: [any SQLExpressible] = [], orderBy ordering: [any SQLOrderingTerm] = [],
        frame: WindowFrame? = nil
    ) -> SQLExpression {
        over(SQLWindow(partitionBy: partition, orderBy: ordering, frame: frame))
    }

    /// The function over rows in an order: `RANK() OVER (PARTITION BY x ORDER BY y)`.
    ///
    /// ```swift
    /// rank().over(partitionBy: Column("teamId"), orderBy: Column("score").desc)
    /// ```
    public func over(
        partitionBy partition: some SQLSpecificExpressible, orderBy ordering: some SQLOrderingTerm,
        frame: WindowFrame? = nil
    ) -> SQLExpression {
        over(partitionBy: [partition], orderBy: [ordering], frame: frame)
    }

    /// The function over rows with the same value: `COUNT(*) OVER (PARTITION BY x)`.
    public func over(partitionBy partition: some SQLSpecificExpressible, frame: WindowFrame? = nil) -> SQLExpression {
        over(partitionBy: [partition], frame: frame)
    }

    /// The function over rows in an order: `RANK() OVER (ORDER BY y)`.
    public func over(orderBy ordering: some SQLOrderingTerm, frame: WindowFrame? = nil) -> SQLExpression {
        over(orderBy: [ordering], frame: frame)
    }

    private func over(_ window: WindowReference) -> SQLExpression {
        guard case .function(var call) = kind else {
            return .failing(
                "OVER follows a function, and this is none: call over(_:) on rank(), sum(_:) and their like")
        }
        call.window = window
        return .node(.function(call))
    }
}
