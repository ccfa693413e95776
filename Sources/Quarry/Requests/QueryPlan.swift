public import QuarryCore
import QuarrySQL

/// How SQLite runs a statement, as a tree: <https://www.sqlite.org/eqp.html>.
///
/// ```swift
/// let plan = try Player.filter { $0.teamId == 1 }.order(\.score).explain(db)
/// print(plan)
/// // QUERY PLAN
/// // |--SEARCH player USING INDEX player_on_teamId (teamId=?)
/// // `--USE TEMP B-TREE FOR ORDER BY
/// plan.contains("SCAN") // false
/// ```
///
/// The texts are SQLite's, and change from version to version.
public struct QueryPlan: Hashable, Sendable {
    /// A step of a plan.
    public struct Node: Hashable, Sendable, Identifiable {
        /// The number of the step in its plan.
        public let id: Int
        /// The number of the step around; 0 for none.
        public let parent: Int
        /// What SQLite does.
        public let detail: String
        /// The steps inside.
        public fileprivate(set) var children: [Node] = []
    }

    /// The steps that have no other around them.
    public let nodes: [Node]

    /// Whether a step, or one inside of it, has a text in its detail.
    public func contains(_ text: String) -> Bool {
        func contains(_ node: Node) -> Bool {
            node.detail.contains(text) || node.children.contains(where: contains)
        }
        return nodes.contains(where: contains)
    }

    /// - parameter statement: it has its arguments; it isn't run.
    init(of statement: Statement, _ db: Database) throws {
        let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement.sql)
        try explanation.setArguments(statement.arguments)
        let rows = try Row.fetchAll(explanation)
        nodes = try Self.children(
            of: 0,
            rows.map { row in
                Node(
                    id: try row.decode(atIndex: 0), parent: try row.decode(atIndex: 1),
                    detail: try row.decode(atIndex: 3))
            })
    }

    private static func children(of parent: Int, _ nodes: [Node]) -> [Node] {
        nodes.filter { $0.parent == parent && $0.id != parent }.map { node in
            var node = node
            node.children = children(of: node.id, nodes)
            return node
        }
    }
}

extension QueryPlan: CustomStringConvertible {
    /// The tree, as SQLite's shell prints it.
    public var description: String {
        var lines = ["QUERY PLAN"]
        func append(_ nodes: [Node], _ indentation: String) {
            for (index, node) in nodes.enumerated() {
                let isLast = index == nodes.count - 1
                lines.append(indentation + (isLast ? "`--" : "|--") + node.detail)
                append(node.children, indentation + (isLast ? "   " : "|  "))
            }
        }
        append(nodes, "")
        return lines.joined(separator: "\n")
    }
}

extension FetchRequest {
    /// How SQLite would run the request. It doesn't run.
    ///
    /// ```swift
    /// print(try Player.filter { $0.name == "Arthur" }.explain(db))
    /// // QUERY PLAN
    /// // `--SEARCH player USING INDEX player_on_name (name=?)
    /// ```
    ///
    /// - throws: what preparing the request throws.
    public func explain(_ db: Database) throws -> QueryPlan {
        try QueryPlan(of: makePreparedRequest(db, forSingleResult: false).statement, db)
    }

    /// The request with its values, as one could type it: for logs, and for tests.
    ///
    /// ```swift
    /// try Player.filter { $0.name == "O'Brien" }.sql(db) // SELECT * FROM "player" WHERE "name" = 'O''Brien'
    /// ```
    public func sql(_ db: Database) throws -> String {
        try db.literalSQL(of: makePreparedRequest(db, forSingleResult: false).statement)
    }
}

extension Database {
    /// The SQL of a statement with its arguments in place of their parameters.
    func literalSQL(of statement: Statement) throws -> String {
        // Before another statement is made: this one may be kept for the next request with the same SQL.
        let (sql, arguments) = (statement.sql, statement.arguments)
        return try literal(SQL(sql: sql, arguments: arguments))
    }

    /// SQL with its arguments in place of their parameters.
    func literal(_ sql: SQL) throws -> String { try schemaResolver.text(of: sql) }
}
