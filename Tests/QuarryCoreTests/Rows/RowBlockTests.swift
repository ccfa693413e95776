import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Copied rows")
struct RowBlockTests {
    /// Rows of more than 8 GiB count the starts of their values in units of several bytes.
    @Test(arguments: [0, 1, 3, 9] as [Int32]) func valuesAreFoundWithAnyUnit(shift: Int32) throws {
        try withConnection { db throws in
            let sql = "SELECT 'a', x'', NULL, 'été', 7, x'010203', 'longer than one unit of any kind', 1.5, ''"
            let statement = try db.makeStatement(sql: sql)
            let expected = Array(try #require(try Row.fetchOne(db, sql: sql)).databaseValues)
            let cursor = try Row.fetchCursor(statement)
            _ = try cursor.next()
            let blocks = [
                RowBlock.copy(statement.sqliteStatement, count: 9, shift: shift), RowBlock.copy(expected, shift: shift),
            ]
            for block in blocks {
                #expect(block.count == 9)
                #expect((0..<9).map { block.value($0) } == expected)
                #expect(block.integer(4) == 7 && block.integer(0) == nil)
            }
        }
    }
}
