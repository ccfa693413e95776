import QuarryCore
import QuarrySQL
import Testing

@Suite struct ColumnTests {
    @Test func columnsNameThemselvesInSQL() throws {
        let sql: SQL = "SELECT \(Column("first \"name\"")), \(Column.rowID) FROM player"
        #expect(sql.text == #"SELECT "first ""name""", "rowid" FROM player"#)
    }
}

extension SQL {
    /// The text of SQL that needs no connection.
    fileprivate var text: String {
        elements.map { if case .sql(let sql, _) = $0 { sql } else { "?" } }.joined()
    }
}
