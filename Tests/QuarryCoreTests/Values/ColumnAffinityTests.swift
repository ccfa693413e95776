import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The affinities of declared types, against the values that SQLite stores.
@Suite struct ColumnAffinityTests {
    @Test(arguments: [
        "", "INT", "BIGINT", "FLOATING POINT", "CHARINT", "VARCHAR(10)", "NCLOB", "TEXT", "BLOB", "REAL", "float",
        "DOUBLE",
        "DOUBLE PRECISION", "NUMERIC", "DECIMAL(10, 5)", "BOOLEAN", "DATE", "REALBLOB", "BLOBREAL", "REALTEXT",
        "STRING",
    ]) func affinitiesAreSQLites(_ type: String) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a \(type)); INSERT INTO t VALUES (5), ('5.0'), (5.0)")
            let stored = try String.fetchAll(db, sql: "SELECT typeof(a) FROM t")
            let expected =
                switch ColumnAffinity(declaredType: type) {
                case .integer, .numeric: ["integer", "integer", "integer"]
                case .text: ["text", "text", "text"]
                case .blob: ["integer", "text", "real"]
                case .real: ["real", "real", "real"]
                }
            #expect(stored == expected)
        }
    }
}
