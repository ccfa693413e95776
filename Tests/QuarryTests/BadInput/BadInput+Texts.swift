import Foundation
import Quarry

/// Text and bytes that can't be read as what they should be.
extension BadInput {
    private struct Address: Codable, DatabaseValueConvertible {
        var street: String
        var number: Int
    }

    static let textDecoding: [BadInput] = [
        .connection(
            "bytes that aren't UTF-8 as text",
            """
            RowDecodingError: could not decode String from database value BLOB - column: "x\\'ff41\\'", column \
            index: 0, row: [x'ff41':BLOB], sql: `SELECT x'ff41'`
            """
        ) { db in
            _ = try String.fetchOne(db, sql: "SELECT x'ff41'")
        },
        .connection(
            "text that isn't UTF-8",
            """
            RowDecodingError: could not decode String from database value BLOB - column: "broken", column index: 0, \
            row: [broken:BLOB], sql: `SELECT CAST(x'ff41' AS TEXT) AS broken`
            """
        ) { db in
            _ = try String.fetchOne(db, sql: "SELECT CAST(x'ff41' AS TEXT) AS broken")
        },
        .connection(
            "text that was cut within a character",
            """
            RowDecodingError: could not decode String from database value BLOB - column: "cut", column index: 0, \
            row: [cut:BLOB]
            """
        ) { db in
            _ = try Row.fetchOne(db, sql: "SELECT CAST(x'c3' AS TEXT) AS cut")!.decode(String.self, atIndex: 0)
        },
        .connection(
            "a date that doesn't exist",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'2023-02-29\\'", column \
            index: 0, row: ['2023-02-29':TEXT], sql: `SELECT '2023-02-29'`
            """
        ) { db in _ = try Date.fetchOne(db, sql: "SELECT '2023-02-29'") },
        .connection(
            "a date with a month too many",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'2024-13-01 \
            00:00:00.000\\'", column index: 0, row: ['2024-13-01 00:00:00.000':TEXT], sql: `SELECT '2024-13-01 \
            00:00:00.000'`
            """
        ) { db in
            _ = try Date.fetchOne(db, sql: "SELECT '2024-13-01 00:00:00.000'")
        },
        .connection(
            "a time as a date",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'12:30:00\\'", column \
            index: 0, row: ['12:30:00':TEXT], sql: `SELECT '12:30:00'`
            """
        ) { db in _ = try Date.fetchOne(db, sql: "SELECT '12:30:00'") },
        .connection(
            "a date in words",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'now\\'", column index: 0, \
            row: ['now':TEXT], sql: `SELECT 'now'`
            """
        ) { db in _ = try Date.fetchOne(db, sql: "SELECT 'now'") },
        .connection(
            "a date with a word behind it",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'2024-02-29 12:30 CET\\'", \
            column index: 0, row: ['2024-02-29 12:30 CET':TEXT], sql: `SELECT '2024-02-29 12:30 CET'`
            """
        ) { db in
            _ = try Date.fetchOne(db, sql: "SELECT '2024-02-29 12:30 CET'")
        },
        .connection(
            "a date with a zone that is too far",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'2024-02-29 \
            12:30+19:00\\'", column index: 0, row: ['2024-02-29 12:30+19:00':TEXT], sql: `SELECT '2024-02-29 \
            12:30+19:00'`
            """
        ) { db in
            _ = try Date.fetchOne(db, sql: "SELECT '2024-02-29 12:30+19:00'")
        },
        .connection(
            "a date of a year with five digits",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "\\'12024-02-29\\'", column \
            index: 0, row: ['12024-02-29':TEXT], sql: `SELECT '12024-02-29'`
            """
        ) { db in
            _ = try Date.fetchOne(db, sql: "SELECT '12024-02-29'")
        },
        .connection(
            "a date that is infinite",
            """
            RowDecodingError: could not decode Date from database value REAL - column: "-9e999", column index: 0, \
            row: [-9e999:REAL], sql: `SELECT -9e999`
            """
        ) { db in _ = try Date.fetchOne(db, sql: "SELECT -9e999") },
        .connection(
            "a date with a NUL behind it",
            """
            RowDecodingError: could not decode Date from database value TEXT - column: "?", column index: 0, row: \
            [?:TEXT], sql: `SELECT ?`
            """
        ) { db in
            _ = try Date.fetchOne(db, sql: "SELECT ?", arguments: ["2024-02-29\0"])
        },
        .connection(
            "date components that are none",
            """
            RowDecodingError: could not decode DatabaseDateComponents from database value TEXT - column: \
            "\\'24:01\\'", column index: 0, row: ['24:01':TEXT], sql: `SELECT '24:01'`
            """
        ) { db in
            _ = try DatabaseDateComponents.fetchOne(db, sql: "SELECT '24:01'")
        },
        .connection(
            "a number as date components",
            """
            RowDecodingError: could not decode DatabaseDateComponents from database value INTEGER - column: \
            "20240229", column index: 0, row: [20240229:INTEGER], sql: `SELECT 20240229`
            """
        ) { db in
            _ = try DatabaseDateComponents.fetchOne(db, sql: "SELECT 20240229")
        },
        .connection(
            "a UUID with a digit that is none",
            """
            RowDecodingError: could not decode UUID from database value TEXT - column: \
            "\\'E621E1F8-C36C-495A-93FC-0C247A3E6E5G\\'", column index: 0, row: \
            ['E621E1F8-C36C-495A-93FC-0C247A3E6E5G':TEXT], sql: `SELECT 'E621E1F8-C36C-495A-93FC-0C247A3E6E5G'`
            """
        ) { db in
            _ = try UUID.fetchOne(db, sql: "SELECT 'E621E1F8-C36C-495A-93FC-0C247A3E6E5G'")
        },
        .connection(
            "a UUID without dashes",
            """
            RowDecodingError: could not decode UUID from database value TEXT - column: \
            "\\'E621E1F8C36C495A93FC0C247A3E6E5F\\'", column index: 0, row: \
            ['E621E1F8C36C495A93FC0C247A3E6E5F':TEXT], sql: `SELECT 'E621E1F8C36C495A93FC0C247A3E6E5F'`
            """
        ) { db in
            _ = try UUID.fetchOne(db, sql: "SELECT 'E621E1F8C36C495A93FC0C247A3E6E5F'")
        },
        .connection(
            "a UUID of 15 bytes",
            """
            RowDecodingError: could not decode UUID from database value BLOB - column: "zeroblob(15)", column index: \
            0, row: [zeroblob(15):BLOB], sql: `SELECT zeroblob(15)`
            """
        ) { db in _ = try UUID.fetchOne(db, sql: "SELECT zeroblob(15)") },
        .connection(
            "an integer as a UUID",
            """
            RowDecodingError: could not decode UUID from database value INTEGER - column: "1", column index: 0, row: \
            [1:INTEGER], sql: `SELECT 1`
            """
        ) { db in _ = try UUID.fetchOne(db, sql: "SELECT 1") },
        .connection(
            "a decimal with a comma",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: "\\'12,5\\'", column \
            index: 0, row: ['12,5':TEXT], sql: `SELECT '12,5'`
            """
        ) { db in _ = try Decimal.fetchOne(db, sql: "SELECT '12,5'") },
        .connection(
            "a decimal with a sign too many",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: "\\'+-1\\'", column index: \
            0, row: ['+-1':TEXT], sql: `SELECT '+-1'`
            """
        ) { db in
            _ = try Decimal.fetchOne(db, sql: "SELECT '+-1'")
        },
        .connection(
            "a decimal without its exponent",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: "\\'1e\\'", column index: \
            0, row: ['1e':TEXT], sql: `SELECT '1e'`
            """
        ) { db in _ = try Decimal.fetchOne(db, sql: "SELECT '1e'") },
        .connection(
            "a decimal whose exponent is too large",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: \
            "\\'1e999999999999999999999\\'", column index: 0, row: ['1e999999999999999999999':TEXT], sql: `SELECT \
            '1e999999999999999999999'`
            """
        ) { db in
            _ = try Decimal.fetchOne(db, sql: "SELECT '1e999999999999999999999'")
        },
        .connection(
            "a decimal with more digits than fit",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: \
            "\\'1234567890123456789012345678901234567890.5\\'", column index: 0, row: \
            ['1234567890123456789012345678901234567890.5':TEXT], sql: `SELECT \
            '1234567890123456789012345678901234567890.5'`
            """
        ) { db in
            _ = try Decimal.fetchOne(db, sql: "SELECT '1234567890123456789012345678901234567890.5'")
        },
        .connection(
            "an empty text as a decimal",
            """
            RowDecodingError: could not decode Decimal from database value TEXT - column: "\\'\\'", column index: 0, \
            row: ['':TEXT], sql: `SELECT ''`
            """
        ) { db in _ = try Decimal.fetchOne(db, sql: "SELECT ''") },
        .connection(
            "infinity as a decimal",
            """
            RowDecodingError: could not decode Decimal from database value REAL - column: "9e999", column index: 0, \
            row: [9e999:REAL], sql: `SELECT 9e999`
            """
        ) { db in _ = try Decimal.fetchOne(db, sql: "SELECT 9e999") },
        .connection(
            "an empty text as a URL",
            """
            RowDecodingError: could not decode URL from database value TEXT - column: "\\'\\'", column index: 0, \
            row: ['':TEXT], sql: `SELECT ''`
            """
        ) { db in _ = try URL.fetchOne(db, sql: "SELECT ''") },
        .connection(
            "a number as a URL",
            """
            RowDecodingError: could not decode URL from database value INTEGER - column: "1", column index: 0, row: \
            [1:INTEGER], sql: `SELECT 1`
            """
        ) { db in _ = try URL.fetchOne(db, sql: "SELECT 1") },
        .connection(
            "malformed JSON",
            """
            RowDecodingError: could not decode Address from database value TEXTstreet\\": " - column: \
            "\\'{\\"street\\": \\'", column index: 0, row: ['{"street": ':"{\\"street\\": "], sql: `SELECT \
            '{"street": '`
            """
        ) { db in _ = try Address.fetchOne(db, sql: "SELECT '{\"street\": '") },
        .connection(
            "JSON without a key",
            """
            RowDecodingError: could not decode Address from database value TEXTstreet\\": \\"Baker Street\\"}" - \
            column: "\\'{\\"street\\": \\"Baker Street\\"}\\'", column index: 0, row: ['{"street": "Baker \
            Street"}':"{\\"street\\": \\"Baker Street\\"}"], sql: `SELECT '{"street": "Baker Street"}'`
            """
        ) { db in
            _ = try Address.fetchOne(db, sql: "SELECT '{\"street\": \"Baker Street\"}'")
        },
        .connection(
            "JSON with a value of another type",
            """
            RowDecodingError: could not decode Address from database value TEXTstreet\\": \\"Baker Street\\", \
            \\"number\\": \\"221b\\"}" - column: "\\'{\\"street\\": \\"Baker Street\\", \\"number\\": \
            \\"221b\\"}\\'", column index: 0, row: ['{"street": "Baker Street", "number": "221b"}':"{\\"street\\": \
            \\"Baker Street\\", \\"number\\": \\"221b\\"}"], sql: `SELECT '{"street": "Baker Street", "number": \
            "221b"}'`
            """
        ) { db in
            _ = try Address.fetchOne(db, sql: "SELECT '{\"street\": \"Baker Street\", \"number\": \"221b\"}'")
        },
        .connection(
            "a number as JSON",
            """
            RowDecodingError: could not decode Address from database value INTEGER - column: "221", column index: 0, \
            row: [221:INTEGER], sql: `SELECT 221`
            """
        ) { db in _ = try Address.fetchOne(db, sql: "SELECT 221") },
        .connection(
            "JSON whose text isn't UTF-8",
            """
            RowDecodingError: could not decode Address from database value BLOB - column: "CAST(x\\'7b22ff\\' AS \
            TEXT)", column index: 0, row: [CAST(x'7b22ff' AS TEXT):BLOB], sql: `SELECT CAST(x'7b22ff' AS TEXT)`
            """
        ) { db in
            _ = try Address.fetchOne(db, sql: "SELECT CAST(x'7b22ff' AS TEXT)")
        },
    ]
}
