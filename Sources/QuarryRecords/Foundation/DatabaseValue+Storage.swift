public import Foundation
public import QuarryCore

extension DatabaseValue {
    /// A storage class with its content.
    ///
    /// ```swift
    /// switch value.storage {
    /// case .null: print("nothing")
    /// case .int64(let integer): print(integer)
    /// case .double(let number): print(number)
    /// case .string(let text): print(text)
    /// case .blob(let data): print(data.count)
    /// }
    /// ```
    ///
    /// See <https://www.sqlite.org/datatype3.html#storage_classes_and_datatypes>.
    @frozen
    public enum Storage: Sendable {
        /// NULL
        case null
        /// An integer of 64 bits.
        case int64(Int64)
        /// An IEEE number of 64 bits.
        case double(Double)
        /// UTF-8 text, which may contain NULs.
        case string(String)
        /// Bytes.
        case blob(Data)

        /// nil for NULL, otherwise an `Int64`, `Double`, `String` or `Data`.
        ///
        /// ```swift
        /// DatabaseValue(storage: .int64(1)).storage.value as? Int64 // 1
        /// ```
        public var value: (any DatabaseValueConvertible)? {
            switch self {
            case .null: nil
            case .int64(let value): value
            case .double(let value): value
            case .string(let value): value
            case .blob(let value): value
            }
        }
    }

    /// The storage class and content.
    ///
    /// ```swift
    /// let value = try DatabaseValue.fetchOne(db, sql: "SELECT 1 + 1")!
    /// value.storage == .int64(2) // true
    /// ```
    ///
    /// A value that SQLite can't store, such as an integer above `Int64.max`, is returned as text, and throws when it
    /// is bound.
    public var storage: Storage {
        switch rawStorage {
        case .null: .null
        case .int64(let value): .int64(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .blob(let value): .blob(Data(value))
        }
    }

    /// A value with the given storage. A NaN becomes NULL, as in binding.
    ///
    /// ```swift
    /// DatabaseValue(storage: .blob(Data([1, 2]))) // x'0102'
    /// ```
    public init(storage: Storage) {
        switch storage {
        case .null: self = .null
        case .int64(let value): self = value.databaseValue
        case .double(let value): self = value.databaseValue
        case .string(let value): self = value.databaseValue
        case .blob(let value): self = value.databaseValue
        }
    }
}

extension DatabaseValue.Storage: Equatable {
    /// Whether both have the same storage class and content: unlike in `DatabaseValue`, 1 isn't 1.0.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.int64(let lhs), .int64(let rhs)): lhs == rhs
        case (.double(let lhs), .double(let rhs)): lhs == rhs
        // SQLite compares bytes.
        case (.string(let lhs), .string(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.blob(let lhs), .blob(let rhs)): lhs == rhs
        default: false
        }
    }
}
