/// A decimal number as text spells it, exactly: `-12.50`, `1e-7`.
///
/// `mantissa` × 10^`exponent`, with the smallest mantissa there is.
struct DecimalText: Hashable {
    private(set) var isNegative = false
    private(set) var mantissa: UInt128 = 0
    private(set) var exponent = 0

    /// Reads a whole text: digits with or without a point and an exponent; nil for anything else, and for more digits
    /// than a mantissa holds (38, and some numbers of 39).
    init?(_ text: UnsafeRawBufferPointer) {
        var position = 0
        func byte() -> UInt8? { position < text.count ? text[position] : nil }

        if byte() == UInt8(ascii: "-") || byte() == UInt8(ascii: "+") {
            isNegative = byte() == UInt8(ascii: "-")
            position += 1
        }

        var hasDigits = false
        var hasPoint = false
        var fractionDigits = 0
        // Zeros count once another digit follows: at the end they are part of the exponent.
        var zeros = 0
        while let byte = byte() {
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                let digit = byte &- UInt8(ascii: "0")
                guard digit <= 9 else { break }
                hasDigits = true
                if hasPoint { fractionDigits += 1 }
                if digit > 0 {
                    guard shift(by: zeros + 1, adding: digit) else { return nil }
                    zeros = 0
                } else if mantissa > 0 {
                    zeros += 1
                }
            }
            position += 1
        }
        guard hasDigits else { return nil }

        var power = 0
        if byte() == UInt8(ascii: "e") || byte() == UInt8(ascii: "E") {
            position += 1
            let isNegativePower = byte() == UInt8(ascii: "-")
            if isNegativePower || byte() == UInt8(ascii: "+") { position += 1 }
            guard byte() != nil else { return nil }
            while let digit = byte().map({ $0 &- UInt8(ascii: "0") }), digit <= 9 {
                // Beyond that it is too large, whatever the other digits do about it.
                power = min(power * 10 + Int(digit), Int(Int32.max))
                position += 1
            }
            if isNegativePower { power = -power }
        }
        guard position == text.count else { return nil }

        if mantissa == 0 {
            isNegative = false
        } else {
            exponent = power + zeros - fractionDigits
        }
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

    /// Makes the exponent no larger than `limit`; false if the mantissa has no room for that.
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
