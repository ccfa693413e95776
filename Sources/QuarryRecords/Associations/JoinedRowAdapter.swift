import QuarryCore
import QuarrySQL

/// An adapter that shows the columns of a request's table, and in scopes the columns of the tables joined to it.
struct JoinedRowAdapter: RowAdapter {
    /// The columns of a table and of the tables joined to it.
    struct Scope: Sendable {
        var columns: [Int]
        var scopes: [String: Scope] = [:]
    }

    var root: Scope

    /// The names of the columns, if the result's names differ.
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
