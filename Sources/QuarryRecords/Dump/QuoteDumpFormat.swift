public import QuarryCore

/// The values of a row on a line, as SQL literals.
///
/// ```
/// 'Arthur',500
/// 'Barbara',NULL
/// ```
///
/// Text that a literal can't contain is an expression: `CAST(X'610062' AS TEXT)` has a NUL character.
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first, if there is a row.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    private var headerLine = DumpHeader()

    /// The values of a row on a line, as SQL literals.
    public init(header: Bool = false, separator: String = ",") {
        self.header = header
        self.separator = separator
    }

    /// Writes a line.
    ///
    /// - throws: `DatabaseError` if SQLite can't write a value as a literal.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        if header { headerLine.write(statement, separator: separator, to: &stream, Self.literal) }
        let literals = try stream.indices(of: statement).map { try Self.literal(statement, $0, db) }
        stream.write(literals.joined(separator: separator) + "\n")
    }

    /// Forgets the columns.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        headerLine = DumpHeader()
    }

    private static func literal(_ statement: Statement, _ index: Int, _ db: Database) throws -> String {
        let value = DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))
        switch value.rawStorage {
        case .null: return "NULL"
        case .int64(let integer): return "\(integer)"
        case .string(let text): return literal(text)
        case .double(let number):
            // An out-of-range literal, as SQLite writes it since 3.43.
            if number.isInfinite { return number < 0 ? "-9.0e+999" : "9.0e+999" }
            // SQLite writes the literal, because its versions differ.
            return try String.fetchOne(db.cachedStatement(sql: "SELECT quote(?)"), arguments: [value]) ?? "NULL"
        case .blob(let bytes):
            let isText = StatementColumns.type(statement.sqliteStatement, CInt(index)) == .text
            return isText ? cast(bytes) : "X'\(bytes.digits)'"
        }
    }

    private static func literal(_ text: String) -> String {
        if text.utf8.contains(0) { return cast(Array(text.utf8)) }
        var literal = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { literal.unicodeScalars.append("'") }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }

    private static func cast(_ text: [UInt8]) -> String { "CAST(X'\(text.digits)' AS TEXT)" }
}

extension DumpFormat where Self == QuoteDumpFormat {
    /// The values of a row on a line, as SQL literals: `'Arthur',500`.
    ///
    /// - parameter header: whether the names of the columns come first.
    /// - parameter separator: the text between two values.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
