import Foundation
public import QuarryCore

extension DatabaseValue {
    /// The database value of any convertible value, or nil.
    ///
    /// ```swift
    /// DatabaseValue(value: "Arthur")   // "Arthur"
    /// DatabaseValue(value: NSNull())   // NULL
    /// DatabaseValue(value: [1, 2])     // nil
    /// ```
    ///
    /// - parameter value: a `DatabaseValueConvertible`, an optional one, or `NSNull`.
    public init?(value: Any) {
        switch value {
        case let value as any DatabaseValueConvertible: self = value.databaseValue
        case is NSNull: self = .null
        default: return nil
        }
    }
}

extension StatementArguments {
    /// Positional arguments from convertible values, or nil if a value can't be converted.
    ///
    /// ```swift
    /// let values: [Any] = ["Arthur", 1000, NSNull()]
    /// if let arguments = StatementArguments(values) {
    ///     try db.execute(sql: "INSERT INTO player VALUES (?, ?, ?)", arguments: arguments)
    /// }
    /// ```
    ///
    /// - parameter array: values as `DatabaseValue.init(value:)` takes them.
    public init?(_ array: [Any]) {
        var values: [DatabaseValue] = []
        values.reserveCapacity(array.count)
        for value in array {
            guard let value = DatabaseValue(value: value) else { return nil }
            values.append(value)
        }
        self.init(values: values)
    }

    /// Named arguments from convertible values, or nil if a key isn't a string or a value can't be converted.
    ///
    /// - parameter dictionary: values as `DatabaseValue.init(value:)` takes them, by name without the prefix of the
    ///   parameter.
    public init?(_ dictionary: [AnyHashable: Any]) {
        guard let columns = databaseColumns(dictionary) else { return nil }
        self.init(columns.map { ($0.0, $0.1 as (any DatabaseValueConvertible)?) })
    }
}

extension Row {
    /// A row of convertible values, or nil if a key isn't a string or a value can't be converted.
    ///
    /// ```swift
    /// let row = Row(["name": "Arthur", "score": NSNull()] as [AnyHashable: Any])
    /// ```
    ///
    /// - parameter dictionary: values as `DatabaseValue.init(value:)` takes them, by column name. The columns are
    ///   sorted by name.
    public convenience init?(_ dictionary: [AnyHashable: Any]) {
        guard let columns = databaseColumns(dictionary) else { return nil }
        self.init(columns: columns.sorted { $0.0 < $1.0 })
    }
}

private func databaseColumns(_ dictionary: [AnyHashable: Any]) -> [(String, DatabaseValue)]? {
    var columns: [(String, DatabaseValue)] = []
    columns.reserveCapacity(dictionary.count)
    for (key, value) in dictionary {
        guard let name = key.base as? String, let value = DatabaseValue(value: value) else { return nil }
        columns.append((name, value))
    }
    return columns
}
