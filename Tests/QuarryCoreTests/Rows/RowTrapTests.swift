import QuarryCore
import QuarryTestSupport
import Testing

/// Subscripts can't throw: without a value to give they end the process, and say why.
@Suite("Subscripts without a value to give")
struct RowTrapTests {
    @Test("a column that is missing")
    func missingColumn() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
                while let row = try rows.next() { _ = row["missing"] as Int }
            }
        }
        expectMessage(#"column not found: "missing" - row: [a:INTEGER], sql: `SELECT 1 AS a`"#, of: cursor)
        let literal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row["missing"] as Int
        }
        expectMessage(#"column not found: "missing" - row: [a:INTEGER]"#, of: literal)
    }

    @Test("an index that is out of range")
    func outOfRange() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
                while let row = try rows.next() { _ = row[1] as Int? }
            }
        }
        expectMessage("column index 1 is out of range 0..<1 - row: [a:INTEGER], sql: `SELECT 1 AS a`", of: cursor)
        let untyped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row[row.startIndex.advanced(by: -1)]
        }
        expectMessage("column index -1 is out of range 0..<1 - row: [a:INTEGER]", of: untyped)
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row.hasNull(atIndex: 1)
        }
        expectMessage("column index 1 is out of range 0..<1 - row: [a:INTEGER]", of: null)
    }

    @Test("NULL for what isn't optional")
    func null() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT NULL AS a")
                while let row = try rows.next() { _ = row["a"] as Int }
            }
        }
        expectMessage(
            #"could not decode Int from database value NULL - column: "a", column index: 0, row: [a:NULL], "#
                + "sql: `SELECT NULL AS a`", of: cursor)
    }

    @Test("a value of another type")
    func mismatch() async {
        let literal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": "x"]
            _ = row[0] as Int?
        }
        expectMessage(
            #"could not decode Optional<Int> from database value TEXT - column: "a", column index: 0, row: [a:TEXT]"#,
            of: literal)
    }
}
