/// Lists of other rows that the rows of a result have, by name, for each row and its scopes.
package protocol RowLists: AnyObject {
    /// The names of the lists that belong to the row itself.
    var keys: [String] { get }

    /// The list with that name, which must exist.
    ///
    /// - parameter row: the number of the row.
    func rows(_ key: String, of row: Int) -> [Row]

    /// The lists of a scope.
    func lists(inScope name: String) -> (any RowLists)?
}

extension Row {
    /// The source of the lists that belong to the row itself, and the number of the row there.
    package var lists: (source: any RowLists, index: Int)? {
        get { adaptedSource?.lists }
        set { adaptedSource?.lists = newValue }
    }

    /// The row's own lists, in the order of their names.
    var ownLists: [(key: String, rows: [Row])] {
        guard let lists else { return [] }
        return lists.source.keys.sorted().map { (key: $0, rows: lists.source.rows($0, of: lists.index)) }
    }
}
