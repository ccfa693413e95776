import QuarryCore
import QuarrySQL
import QuarryTestSupport
import Testing

@Suite struct ColumnTests {
    @Test func columnsNameThemselvesInSQL() throws {
        try withConnection { db in
            let sql: SQL = "SELECT \(Column("first \"name\"")), \(Column.rowID) FROM player"
            let text = try sql.build(db).sql
            #expect(text == #"SELECT "first ""name""", "rowid" FROM player"#)
        }
    }
}
