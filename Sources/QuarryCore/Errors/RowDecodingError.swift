/// Thrown when a database value can't be converted to the requested Swift type.
///
/// ```swift
/// let ids = try Int.fetchAll(db, sql: "SELECT 'foo' AS id")
/// // RowDecodingError: could not decode Int from database value TEXT - column: "id", column index: 0,
/// // row: [id:TEXT], sql: `SELECT 'foo' AS id`
/// ```
///
/// The description shows storage classes in place of values, which may be private, unless
/// `Configuration.publicStatementArguments` is true.
public struct RowDecodingError: Error, Sendable {
    /// The problem and its place, for developers.
    public let description: String

    init(_ problem: String, _ place: Place) {
        description = problem + place.description
    }

    /// A value that can't be converted to the requested type.
    ///
    /// - parameter value: the value, as `Row.shown` describes it.
    static func mismatch(_ type: Any.Type, value: String, place: Place) -> RowDecodingError {
        let problem = value == "NULL" ? nil : rawValueProblem(type)
        return RowDecodingError(
            "could not decode \(type) from database value \(value)\(problem.map { ": \($0)" } ?? "")", place)
    }

    /// The reason why a type with raw values has no value; nil for other types.
    package static func rawValueProblem(_ type: Any.Type) -> String? {
        let type = (type as? any OptionalValue.Type)?.wrapped ?? type
        return type is any RawRepresentable.Type ? "no value of \(type) has this raw value" : nil
    }

    /// The same error, with a hint at its end.
    package func adding(hint: String) -> RowDecodingError { RowDecodingError(description + hint, Place()) }

    /// A missing column.
    static func columnNotFound(_ name: String, place: Place) -> RowDecodingError {
        RowDecodingError("column not found: \(String(reflecting: name))", place)
    }

    /// An index outside the row.
    static func indexOutOfRange(_ index: Int, count: Int, place: Place) -> RowDecodingError {
        RowDecodingError("column index \(index) is out of range 0..<\(count)", place)
    }

    /// The place of the value that could not be decoded.
    struct Place {
        var columnName: String? = nil
        var columnIndex: Int? = nil
        var row: String? = nil
        var sql: String? = nil
        var arguments: StatementArguments? = nil

        var description: String {
            var parts: [String] = []
            if let columnName { parts.append("column: \(String(reflecting: columnName))") }
            if let columnIndex { parts.append("column index: \(columnIndex)") }
            if let row { parts.append("row: \(row)") }
            if let sql { parts.append("sql: `\(sql)`") }
            if let arguments, !arguments.isEmpty { parts.append("arguments: \(arguments)") }
            return parts.isEmpty ? "" : " - " + parts.joined(separator: ", ")
        }
    }
}

extension RowDecodingError: CustomStringConvertible {}
