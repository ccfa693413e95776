import QuarryCore
import QuarrySQL

/// Shows the columns of a request's table, and in scopes those of the tables that are joined to it.
struct JoinedRowAdapter: RowAdapter {
    /// The columns of a table, and of those that are joined to it.
    struct Scope: Sendable {
        var columns: [Int]
        var scopes: [String: Scope] = [:]
    }

    var root: Scope

    /// The names of the columns, where the result has others.
    var names: [String]?

    func projection(of columnNames: [String]) -> RowProjection {
        project(root, names ?? columnNames)
    }

    private func project(_ scope: Scope, _ names: [String]) -> RowProjection {
        RowProjection(
            columns: scope.columns.map { index in
                RowProjection.Column(index: index, name: index < names.count ? names[index] : "")
            },
            scopes: scope.scopes.mapValues { project($0, names) })
    }
}
