/// A row seen through an adapter: some columns of another row, in some order.
final class AdaptedRowSource {
    let base: Row
    /// For each column, its index in the base row.
    let columns: [Int]

    init(base: Row, columns: [Int]) {
        self.base = base
        self.columns = columns
    }

    func value(_ index: Int) -> DatabaseValue { base.value(atUncheckedIndex: columns[index]) }

    func copy() -> Row {
        Row(
            adapted: AdaptedRowSource(base: base.copy(), columns: columns),
            layout: RowLayout(names: columns.map { base.layout.names[$0] }))
    }
}
