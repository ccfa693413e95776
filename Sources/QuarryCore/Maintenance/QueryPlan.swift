/// SQLite's plan for a statement, as a tree: <https://www.sqlite.org/eqp.html>.
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
/// The texts are SQLite's, and differ between versions.
public struct QueryPlan: Hashable, Sendable {
    /// A step of a plan.
    public struct Node: Hashable, Sendable, Identifiable {
        /// The number of the step in its plan.
        public let id: Int
        /// The number of the enclosing step; 0 if there is none.
        public let parent: Int
        /// SQLite's description of the step.
        public let detail: String
        /// The nested steps.
        public fileprivate(set) var children: [Node] = []
    }

    /// The steps that aren't nested.
    public let nodes: [Node]

    /// Whether the detail of a step or of a nested step contains a text.
    public func contains(_ text: String) -> Bool {
        func contains(_ node: Node) -> Bool {
            node.detail.contains(text) || node.children.contains(where: contains)
        }
        return nodes.contains(where: contains)
    }

    /// - parameter statement: a statement with its arguments set; it isn't run.
    package init(of statement: Statement, _ db: Database) throws {
        let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement.sql)
        try explanation.setArguments(statement.arguments)
        try self.init(explanation)
    }

    /// - parameter sql: a statement; its parameters have no values.
    package init(ofSQL sql: String, _ db: Database) throws {
        let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
        explanation.setUncheckedArguments(StatementArguments())
        try self.init(explanation)
    }

    private init(_ explanation: Statement) throws {
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
