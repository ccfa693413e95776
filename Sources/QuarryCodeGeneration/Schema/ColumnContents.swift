import Quarry

/// The values of a column in the rows of a table.
struct ColumnContents {
    private(set) var hasNull = false
    private(set) var hasInteger = false
    private(set) var hasReal = false
    private(set) var hasText = false
    private(set) var hasBlob = false

    /// Whether all integers are 0 or 1.
    private(set) var isBoolean = true

    /// Whether a `Double` holds all integers.
    private(set) var isExactAsDouble = true

    /// Whether all texts are dates.
    private(set) var isDates = true

    mutating func note(_ value: DatabaseValue, mayBeDate: Bool) {
        switch value.storage {
        case .null: hasNull = true
        case .int64(let integer):
            hasInteger = true
            isBoolean = isBoolean && (0...1).contains(integer)
            isExactAsDouble = isExactAsDouble && Int64(exactly: Double(integer)) == integer
        case .double: hasReal = true
        case .string:
            hasText = true
            if mayBeDate, isDates, !value.isDate { isDates = false }
        case .blob: hasBlob = true
        }
    }

    /// Whether there is no value at all.
    var isEmpty: Bool { !hasInteger && !hasReal && !hasText && !hasBlob }

    /// Whether there is no value but of some kinds.
    func only(integers: Bool = false, reals: Bool = false, texts: Bool = false, blobs: Bool = false) -> Bool {
        (integers || !hasInteger) && (reals || !hasReal) && (texts || !hasText) && (blobs || !hasBlob)
    }
}
