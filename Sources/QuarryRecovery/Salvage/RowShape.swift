import Quarry
import QuarryCore

/// The rows that a table can have: how the file stores its columns.
struct RowShape {
    /// A column in the order of the file's records.
    struct Column {
        var name: String
        var affinity: ColumnAffinity
        var isNotNull = false
        /// Whether the column is the rowid, which records have as NULL:
        /// <https://www.sqlite.org/lang_createtable.html#rowid>.
        var isRowID = false
        /// Whether the value is computed by SQLite and can't be inserted: <https://www.sqlite.org/gencol.html>.
        var isGenerated = false
    }

    let columns: [Column]

    /// How well a record fits: nil if the table can't have it. Records may lack the last columns, which were added
    /// later.
    func fit(_ record: SalvagedRecord) -> Int? {
        guard record.isComplete, !record.values.isEmpty, record.values.count <= columns.count else { return nil }
        var score = record.values.count == columns.count ? columns.count : 0
        for (column, value) in zip(columns, record.values) {
            if column.isRowID {
                guard value == .null else { return nil }
                score += 2
            } else {
                guard !column.isNotNull || value != .null, let fit = column.affinity.fit(value) else { return nil }
                score += fit
            }
        }
        return score
    }

    /// How well the records of a page fit: nil if one of them can't belong to the table.
    func fit(_ records: [SalvagedRecord]) -> Int? {
        var sum = 0
        for record in records {
            guard let fit = fit(record) else { return nil }
            sum += fit
        }
        return records.isEmpty ? nil : sum
    }

    /// The rows of `sqlite_schema`.
    static let schema = RowShape(columns: [
        Column(name: "type", affinity: .text, isNotNull: true), Column(name: "name", affinity: .text, isNotNull: true),
        Column(name: "tbl_name", affinity: .text, isNotNull: true), Column(name: "rootpage", affinity: .integer),
        Column(name: "sql", affinity: .text),
    ])
}

extension ColumnAffinity {
    /// How well a value fits: nil if a column of this affinity never stores it.
    fileprivate func fit(_ value: SalvagedRecord.Value) -> Int? {
        switch (self, value) {
        case (_, .null): 0
        case (.blob, _): 0
        case (.text, .text), (.integer, .integer), (.real, .real): 2
        case (.real, .integer), (.numeric, .integer), (.numeric, .real): 1
        case (.text, .integer), (.text, .real): nil
        case (.integer, .real), (_, .blob), (_, .text): 0
        }
    }
}
