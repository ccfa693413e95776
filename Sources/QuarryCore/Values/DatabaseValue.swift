/// A value as SQLite stores it: NULL, an integer, a real, text or a blob.
///
/// ```swift
/// let value = try DatabaseValue.fetchOne(db, sql: "SELECT 1 + 1")!
/// value.description            // "2"
/// Int.fromDatabaseValue(value) // 2
/// ```
///
/// `1 == 1.0` is true, as in SQL; other values are equal if they have the same storage class and content. See
/// <https://www.sqlite.org/datatype3.html>.
public struct DatabaseValue: Sendable {
    /// A storage class with its content, without Foundation's types. Applications use `DatabaseValue.Storage`.
    ///
    /// See <https://www.sqlite.org/datatype3.html#storage_classes_and_datatypes>.
    @usableFromInline
    package enum RawStorage: Sendable {
        /// NULL
        case null
        /// An integer of 64 bits.
        case int64(Int64)
        /// An IEEE number of 64 bits.
        case double(Double)
        /// UTF-8 text, which may contain NULs.
        case string(String)
        /// Bytes.
        case blob([UInt8])
    }

    /// The content: a value that SQLite can store, or a value that it can't store.
    @usableFromInline
    enum Content: Sendable {
        case null
        case int64(Int64)
        case double(Double)
        case string(String)
        case blob([UInt8])
        /// A value that SQLite can't store: binding it throws.
        case unrepresentable(UnrepresentableValue)
    }

    @usableFromInline
    let content: Content

    @inlinable
    init(content: Content) {
        self.content = content
    }

    /// The storage class and content. A value that SQLite can't store is shown as text.
    @inlinable
    package var rawStorage: RawStorage {
        switch content {
        case .null: .null
        case .int64(let value): .int64(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .blob(let value): .blob(value)
        case .unrepresentable(let value): .string(value.description)
        }
    }

    /// A value with that storage.
    @inlinable
    package init(rawStorage: RawStorage) {
        switch rawStorage {
        case .null: content = .null
        case .int64(let value): content = .int64(value)
        case .double(let value): content = .double(value)
        case .string(let value): content = .string(value)
        case .blob(let value): content = .blob(value)
        }
    }

    /// NULL
    public static let null = DatabaseValue(content: .null)

    /// Whether this is NULL.
    @inlinable
    public var isNull: Bool {
        if case .null = content { true } else { false }
    }
}

extension DatabaseValue: Hashable {
    /// Whether two values are equal. No types are converted, except that `1 == 1.0`.
    public static func == (lhs: DatabaseValue, rhs: DatabaseValue) -> Bool {
        switch (lhs.content, rhs.content) {
        case (.null, .null): true
        case (.int64(let lhs), .int64(let rhs)): lhs == rhs
        case (.double(let lhs), .double(let rhs)): lhs == rhs
        case (.int64(let lhs), .double(let rhs)): Int64(exactly: rhs) == lhs
        case (.double(let lhs), .int64(let rhs)): Int64(exactly: lhs) == rhs
        case (.string(let lhs), .string(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.blob(let lhs), .blob(let rhs)): lhs == rhs
        case (.unrepresentable(let lhs), .unrepresentable(let rhs)): lhs == rhs
        default: false
        }
    }

    /// Hashes the value; `1` and `1.0` have the same hash.
    public func hash(into hasher: inout Hasher) {
        switch content {
        case .null:
            hasher.combine(0 as UInt8)
        case .int64(let value):
            hasher.combine(value)
        case .double(let value):
            if let integer = Int64(exactly: value) { hasher.combine(integer) } else { hasher.combine(value) }
        case .string(let value):
            hasher.combine(3 as UInt8)
            for byte in value.utf8 { hasher.combine(byte) }
        case .blob(let value):
            hasher.combine(value)
        case .unrepresentable(let value):
            hasher.combine(value)
        }
    }
}

extension DatabaseValue {
    /// `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`: <https://www.sqlite.org/datatype3.html>.
    package var storageClass: String {
        switch rawStorage {
        case .null: "NULL"
        case .int64: "INTEGER"
        case .double: "REAL"
        case .string: "TEXT"
        case .blob: "BLOB"
        }
    }
}

extension DatabaseValue: CustomStringConvertible {
    /// The value as a literal: `NULL`, `1`, `1.5`, `"text"`, `x'0ff0'`.
    public var description: String {
        switch content {
        case .null: "NULL"
        case .int64(let value): String(value)
        case .double(let value): String(value)
        case .string(let value): String(reflecting: value)
        case .blob(let value): "x'" + value.hexadecimal + "'"
        case .unrepresentable(let value): value.description
        }
    }
}

extension [UInt8] {
    /// Two lower-case digits per byte.
    var hexadecimal: String {
        String(unsafeUninitializedCapacity: count * 2) { buffer in
            let digits: StaticString = "0123456789abcdef"
            for (index, byte) in self.enumerated() {
                buffer[2 * index] = digits.utf8Start[Int(byte >> 4)]
                buffer[2 * index + 1] = digits.utf8Start[Int(byte & 0xF)]
            }
            return count * 2
        }
    }
}
