import QuarryCore
import QuarrySQL
import Testing

@Suite struct ColumnTests {
    @Test func columnsNameThemselvesInSQL() throws {
        let sql: SQL = "SELECT \(Column("first \"name\"")), \(Column.rowID) FROM player"
        let text = try sql.build(in: sport).sql
        #expect(text == #"SELECT "first ""name""", "rowid" FROM player"#)
    }

    @Test func theRowIDIsFoundWhereAnyProtocolOfColumnsIsAskedFor() {
        let columns: [any ColumnExpression] = [.rowID]
        let selection: [any SQLSelectable] = [.rowID]
        let expressions: [any SQLSpecificExpressible] = [.rowID]
        #expect(columns.map(\.name) == ["rowid"])
        #expect(selection.count + expressions.count == 2)
        #expect(ForeignKey([.rowID], to: [.rowID]) == ForeignKey(["rowid"], to: ["rowid"]))
    }
}
