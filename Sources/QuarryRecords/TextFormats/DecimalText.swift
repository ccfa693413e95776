/// A decimal number as written in a text, exactly: `-12.50`, `1e-7`.
///
/// `mantissa` × 10^`exponent`, with the smallest possible mantissa.
struct DecimalText: Hashable {
    private(set) var isNegative = false
    private(set) var mantissa: UInt128 = 0
    private(set) var exponent = 0

    /// Reads a whole text: digits with or without a point and an exponent; nil for anything else, and for more digits
    /// than a mantissa holds (38, and some numbers of 39).
    init?(_ text: UnsafeRawBufferPointer) {
        let end = text.count
        var position = 0
        if end > 0, text[0] == UInt8(ascii: "-") || text[0] == UInt8(ascii: "+") {
            isNegative = text[0] == UInt8(ascii: "-")
            position = 1
        }

        var hasDigits = false
        var hasPoint = false
        var fractionDigits = 0
        // Zeros are appended when another digit follows: at the end they become part of the exponent.
        var zeros = 0
        // Most numbers have few digits.
        var digits: UInt64 = 0
        while position < end {
            let byte = text[position]
            let digit = byte &- UInt8(ascii: "0")
            if digit <= 9 {
                hasDigits = true
                if hasPoint { fractionDigits &+= 1 }
                if digit == 0 {
                    if digits > 0 || mantissa > 0 { zeros &+= 1 }
                } else if mantissa == 0, let longer = Self.append(digit, after: zeros, to: digits) {
                    digits = longer
                    zeros = 0
                } else {
                    if mantissa == 0 { mantissa = UInt128(digits) }
                    guard shift(by: zeros + 1, adding: digit) else { return nil }
                    zeros = 0
                }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                break
            }
            position &+= 1
        }
        guard hasDigits else { return nil }
        if mantissa == 0 { mantissa = UInt128(digits) }

        var power = 0
        if position < end {
            guard text[position] | 0x20 == UInt8(ascii: "e") else { return nil }
            guard let parsed = Self.power(text[(position + 1)...]) else { return nil }
            power = parsed
        }

        if mantissa == 0 {
            isNegative = false
        } else {
            exponent = power + zeros - fractionDigits
        }
    }

    /// The number after the `e`.
    private static func power(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        var digits = text
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        guard !digits.isEmpty else { return nil }
        var power = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            // A larger power is out of range, whatever the other digits are.
            power = min(power * 10 + Int(digit), Int(Int32.max))
        }
        return isNegative ? -power : power
    }

    /// The digits with some zeros and another digit appended; nil if they don't fit.
    @inline(__always)
    private static func append(_ digit: UInt8, after zeros: Int, to digits: UInt64) -> UInt64? {
        var digits = digits
        for _ in 0...zeros {
            let (product, overflows) = digits.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            digits = product
        }
        let (sum, overflows) = digits.addingReportingOverflow(UInt64(digit))
        return overflows ? nil : sum
    }

    private mutating func shift(by places: Int, adding digit: UInt8) -> Bool {
        for _ in 0..<places {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            if overflows { return false }
            mantissa = product
        }
        let (sum, overflows) = mantissa.addingReportingOverflow(UInt128(digit))
        mantissa = sum
        return !overflows
    }

    /// Lowers the exponent to at most `limit`; returns false if the mantissa doesn't fit then.
    mutating func lowerExponent(to limit: Int) -> Bool {
        while exponent > limit {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            if overflows { return false }
            mantissa = product
            exponent -= 1
        }
        return true
    }
}
