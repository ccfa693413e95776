import CSQLiteBench
import Foundation

/// A date of the form `YYYY-MM-DD HH:MM:SS.SSS`, by arithmetic on its bytes.
@inline(__always)
func columnDate(_ statement: OpaquePointer, _ index: Int32) -> Date {
    guard let bytes = sqlite3_column_text(statement, index), sqlite3_column_bytes(statement, index) == 23 else {
        return .distantPast
    }
    func number(_ start: Int, _ length: Int) -> Int {
        var value = 0
        for offset in start..<start + length {
            value = value * 10 + Int(bytes[offset]) - 48
        }
        return value
    }
    // Years begin in March here, so that a leap day is the last of its year.
    let month = number(5, 2)
    let year = month > 2 ? number(0, 4) : number(0, 4) - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + number(8, 2) - 1
    let days = 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    let seconds = days * 86_400 + number(11, 2) * 3_600 + number(14, 2) * 60 + number(17, 2)
    return Date(timeIntervalSince1970: Double(seconds) + Double(number(20, 3)) / 1_000)
}

/// The inverse: `YYYY-MM-DD HH:MM:SS.SSS`, put together on the stack.
@inline(__always)
func bindDate(_ date: Date, to statement: OpaquePointer, at index: Int32) -> Int32 {
    let milliseconds = Int((date.timeIntervalSince1970 * 1_000).rounded())
    let (days, time) = milliseconds.flooringDivision(by: 86_400_000)
    // Years begin in March here, so that a leap day is the last of its year; 400 of them are an era.
    let (era, dayOfEra) = (days + 719_468).flooringDivision(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 23) { text in
        func put(_ number: Int, _ start: Int, _ length: Int) {
            var rest = number
            for offset in (start..<start + length).reversed() {
                text[offset] = CChar(48 + rest % 10)
                rest /= 10
            }
        }
        put(year, 0, 4)
        text[4] = CChar(UInt8(ascii: "-"))
        put(month, 5, 2)
        text[7] = CChar(UInt8(ascii: "-"))
        put(day, 8, 2)
        text[10] = CChar(UInt8(ascii: " "))
        put(time / 3_600_000, 11, 2)
        text[13] = CChar(UInt8(ascii: ":"))
        put(time / 60_000 % 60, 14, 2)
        text[16] = CChar(UInt8(ascii: ":"))
        put(time / 1_000 % 60, 17, 2)
        text[19] = CChar(UInt8(ascii: "."))
        put(time % 1_000, 20, 3)
        return sqlite3_bind_text(statement, index, text.baseAddress, 23, transient)
    }
}

@inline(__always)
func bindText(_ text: String, to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), transient)
        }
    }
}

@inline(__always)
func bindData(_ data: Data, to statement: OpaquePointer, at index: Int32) -> Int32 {
    data.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), transient) }
}

/// A UUID of 16 bytes.
@inline(__always)
func columnUUID(_ statement: OpaquePointer, _ index: Int32) -> UUID {
    guard let bytes = sqlite3_column_blob(statement, index), sqlite3_column_bytes(statement, index) == 16 else {
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
}

/// A number of up to 19 digits with a point, from its digits.
@inline(__always)
func columnDecimal(_ statement: OpaquePointer, _ index: Int32) -> Decimal {
    guard let bytes = sqlite3_column_text(statement, index) else { return .nan }
    let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, index)))
    let isNegative = text.first == UInt8(ascii: "-")
    var significand: UInt64 = 0
    var fractionStart: Int?
    for position in (isNegative ? 1 : 0)..<text.count {
        if text[position] == UInt8(ascii: ".") {
            fractionStart = position + 1
        } else {
            significand = significand &* 10 &+ UInt64(text[position] &- 48)
        }
    }
    return Decimal(
        sign: isNegative ? .minus : .plus, exponent: fractionStart.map { $0 - text.count } ?? 0,
        significand: Decimal(significand))
}

/// Makes SQLite copy what is bound: https://www.sqlite.org/c3ref/c_static.html
private var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

extension Int {
    @inline(__always)
    fileprivate func flooringDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
