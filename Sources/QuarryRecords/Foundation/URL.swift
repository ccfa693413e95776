public import Foundation
public import QuarryCore

/// A URL is stored as text, its absolute string.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO link (url) VALUES (?)", arguments: [URL(string: "https://sqlite.org")])
/// let url = try URL.fetchOne(db, sql: "SELECT url FROM link")
/// ```
extension URL: DatabaseValueConvertible {
    /// The absolute string.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// The URL that `URL(string:)` makes from text: characters that aren't allowed in a URL are percent-encoded.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> URL? {
        switch dbValue.storage {
        case .string, .blob: String.fromDatabaseValue(dbValue).flatMap { URL(string: $0) }
        case .null, .int64, .double: nil
        }
    }
}
