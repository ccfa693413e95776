public import Foundation
public import QuarryCore

/// A `CGFloat` is stored and read as a `Double`.
extension CGFloat: DatabaseValueConvertible, StatementColumnConvertible {
    /// A real.
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// A real, or an integer as the nearest real; nil for NULL, text and blobs.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> CGFloat? {
        Double.fromDatabaseValue(dbValue).map { CGFloat($0) }
    }

    /// Reads a number.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Double(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(value)
    }

    /// Reads the column; nil for NULL.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> CGFloat? {
        CGFloat(sqliteStatement: sqliteStatement, index: index)
    }

    /// Binds a real.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        Double(self).bind(to: sqliteStatement, at: index)
    }
}
