import QuarryCore
import QuarryTestSupport
import Testing

/// Subscripts can't throw: without a value to give they end the process, and say why.
@Suite("Subscripts without a value to give")
struct RowTrapTests {
    @Test func missingColumnEndsTheProcess() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
                while let row = try rows.next() { _ = row["missing"] as Int }
            }
        }
        expectError(#"column not found: "missing" - row: [a:INTEGER], sql: `SELECT 1 AS a`"#, of: cursor)
        let literal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row["missing"] as Int
        }
        expectError(#"column not found: "missing" - row: [a:INTEGER]"#, of: literal)
    }

    @Test func indexOutOfRangeEndsTheProcess() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
                while let row = try rows.next() { _ = row[1] as Int? }
            }
        }
        expectError("column index 1 is out of range 0..<1 - row: [a:INTEGER], sql: `SELECT 1 AS a`", of: cursor)
        let untyped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row[row.startIndex.advanced(by: -1)]
        }
        expectError("column index -1 is out of range 0..<1 - row: [a:INTEGER]", of: untyped)
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": 1]
            _ = row.hasNull(atIndex: 1)
        }
        expectError("column index 1 is out of range 0..<1 - row: [a:INTEGER]", of: null)
    }

    @Test func nullForAValueEndsTheProcess() async {
        let cursor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withConnection { db throws in
                let rows = try Row.fetchCursor(db, sql: "SELECT NULL AS a")
                while let row = try rows.next() { _ = row["a"] as Int }
            }
        }
        expectError(
            #"could not decode Int from database value NULL - column: "a", column index: 0, row: [a:NULL], "#
                + "sql: `SELECT NULL AS a`", of: cursor)
    }

    @Test func mismatchEndsTheProcess() async {
        let literal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": "x"]
            _ = row[0] as Int?
        }
        expectError(
            #"could not decode Optional<Int> from database value TEXT - column: "a", column index: 0, row: [a:TEXT]"#,
            of: literal)
    }
}
