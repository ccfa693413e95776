public import Foundation
public import QuarryCore

extension Row {
    /// Runs a closure with the bytes of text or a blob, without a copy; nil for NULL.
    ///
    /// ```swift
    /// while let row = try rows.next() {
    ///     let sum = try row.withUnsafeData(atIndex: 1) { data in data.map(checksum) }
    /// }
    /// ```
    ///
    /// - parameter index: the column, from 0.
    /// - parameter body: takes data that is valid only until it returns. `Data(Array(data))` makes a copy that lasts.
    /// - throws: `RowDecodingError` if there is no such column, or it is a number; what the closure throws.
    public func withUnsafeData<T>(atIndex index: Int, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeBytes(atIndex: index) { bytes in
            guard let bytes else {
                _ = try decode(Data?.self, atIndex: index)
                return try body(nil)
            }
            guard let base = bytes.baseAddress, !bytes.isEmpty else { return try body(Data()) }
            let data = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
            return try body(data)
        }
    }

    /// Runs a closure with the bytes of the leftmost column of that name; nil for NULL and for a missing column.
    ///
    /// - throws: `RowDecodingError` if the column is a number; what the closure throws.
    public func withUnsafeData<T>(named columnName: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = columnIndex(columnName) else { return try body(nil) }
        return try withUnsafeData(atIndex: index, body)
    }

    /// Runs a closure with the bytes of the leftmost column of that name; nil for NULL and for a missing column.
    ///
    /// - throws: `RowDecodingError` if the column is a number; what the closure throws.
    public func withUnsafeData<T>(at column: some ColumnExpression, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: column.name, body)
    }
}

extension Row {
    /// The data of a column; nil for NULL. Its bytes are a copy, unlike in `withUnsafeData`.
    ///
    /// - parameter index: the column, from 0. An index outside the row, or a number, ends the process.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(atIndex index: Int) -> Data? { self[index] }

    /// The data of the leftmost column of that name; nil for NULL and for a column that is missing.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(named columnName: String) -> Data? { self[columnName] }

    /// The data of the leftmost column of that name; nil for NULL and for a column that is missing.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(_ column: some ColumnExpression) -> Data? { self[column] }
}
