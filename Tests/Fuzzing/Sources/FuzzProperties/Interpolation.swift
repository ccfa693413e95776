import Quarry

/// Values and names in SQL literals: they come back as they went in, whatever they hold, and however SQL is put
/// together.
enum Interpolation {
    private static let queue = Result { try DatabaseQueue() }

    /// Reads choices from an input; zeros at its end.
    private struct Choices {
        var rest: ArraySlice<UInt8>

        mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

        mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

        /// The bytes up to a NUL.
        mutating func text() -> String {
            let bytes = rest.prefix { $0 != 0 }
            rest = rest.dropFirst(bytes.count + 1)
            return String(decoding: bytes, as: UTF8.self)
        }

        mutating func bytes() -> [UInt8] {
            let count = Int(byte())
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }

    static func check(_ bytes: [UInt8]) throws {
        var choices = Choices(rest: bytes[...])
        var columns: [SQL] = []
        var names: [String] = []
        var values: [DatabaseValue] = []
        while !choices.rest.isEmpty, columns.count < 50 {
            let (column, value) = column(&choices)
            let name = choices.text()
            columns.append("\(literal: column) AS \(identifier: name)")
            names.append(name)
            values.append(value)
        }
        guard !columns.isEmpty else { return }
        let joined: SQL = "SELECT \(literal: columns.joined(separator: ", "))"
        var appended = SQL(sql: "SELECT ")
        for (index, column) in columns.enumerated() {
            if index > 0 { appended.append(sql: ", ") }
            if index.isMultiple(of: 2) { appended += column } else { appended = appended + column }
        }
        try queue.get().read { db in
            let (sql, arguments) = try joined.build(db)
            let other = try appended.build(db)
            try expectEqual(other.sql, sql, "SQL that is joined, and appended", bytes)
            try expectEqual(other.arguments, arguments, "arguments that are joined, and appended", bytes)
            let row = try SQLRequest<Row>(literal: joined).fetchOne(db)
            guard let row else { throw Violation("no row of \(sql)") }
            try expectEqual(Array(row.columnNames), names, "names", bytes)
            try expectEqual(Array(row.databaseValues), values, "values", bytes)
            // A request in a request.
            let request = SQLRequest<Row>(literal: joined)
            let inner: SQLRequest<Int> = "SELECT COUNT(*) FROM \(request)"
            try expectEqual(try inner.fetchOne(db), 1, "rows of the inner request", bytes)
        }
    }

    /// The SQL of a column, and its value.
    private static func column(_ choices: inout Choices) -> (SQL, DatabaseValue) {
        switch choices.byte() % 8 {
        case 0:
            let text = choices.text()
            return ("\(text)", text.databaseValue)
        case 1:
            let number = Int64(bitPattern: choices.word())
            return ("\(number)", number.databaseValue)
        case 2:
            let number = Double(bitPattern: choices.word())
            return ("\(number)", number.isNaN ? .null : number.databaseValue)
        case 3:
            let blob = choices.bytes()
            return ("\(blob.databaseValue)", blob.databaseValue)
        case 4:
            let list = choices.bytes().map(Int.init)
            let number = Int(choices.byte())
            return ("\(number) IN \(list)", list.contains(number).databaseValue)
        case 5:
            let list = choices.text().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let text = choices.text()
            let isIn = list.contains { $0.utf8.elementsEqual(text.utf8) }
            return ("\(text) IN \(list)", isIn.databaseValue)
        case 6:
            let text = choices.text()
            return (SQL(sql: "?", arguments: [text]) + " || \("'?\"")", (text + "'?\"").databaseValue)
        default:
            let nothing: String? = nil
            return ("(SELECT \(nothing))", .null)
        }
    }
}
