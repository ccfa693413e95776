public import Foundation
public import QuarryCore

extension Row {
    /// Passes a closure the bytes of text or a blob, without a copy; nil for NULL.
    ///
    /// ```swift
    /// while let row = try rows.next() {
    ///     let sum = try row.withUnsafeData(atIndex: 1) { data in data.map(checksum) }
    /// }
    /// ```
    ///
    /// - parameter index: the column, from 0.
    /// - parameter body: receives data that is only valid until it returns. `Data(Array(data))` makes a lasting copy.
    /// - throws: `RowDecodingError` if the column doesn't exist, or is a number; the closure's error.
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

    /// Passes a closure the bytes of the leftmost column with that name; nil for NULL and for a missing column.
    ///
    /// - throws: `RowDecodingError` if the column is a number; the closure's error.
    public func withUnsafeData<T>(named columnName: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = columnIndex(columnName) else { return try body(nil) }
        return try withUnsafeData(atIndex: index, body)
    }

    /// Passes a closure the bytes of the leftmost column with that name; nil for NULL and for a missing column.
    ///
    /// - throws: `RowDecodingError` if the column is a number; the closure's error.
    public func withUnsafeData<T>(at column: some ColumnExpression, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: column.name, body)
    }
}

extension Row {
    /// The data of a column; nil for NULL. The bytes are copied, unlike in `withUnsafeData`.
    ///
    /// - parameter index: the column, from 0. An index outside the row, or a number, ends the process.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(atIndex index: Int) -> Data? { self[index] }

    /// The data of the leftmost column with that name; nil for NULL and for a missing column.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(named columnName: String) -> Data? { self[columnName] }

    /// The data of the leftmost column with that name; nil for NULL and for a missing column.
    @available(*, deprecated, message: "Use withUnsafeData, or read a Data: a copy is made here")
    public func dataNoCopy(_ column: some ColumnExpression) -> Data? { self[column] }
}
