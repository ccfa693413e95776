/// A date or a time in a text format: `2024-02-29 23:59:59.999+02:00`.
///
/// The formats are those of <https://www.sqlite.org/lang_datefunc.html> with digits and separators at fixed positions.
struct DateText: Hashable {
    /// The last part of a text.
    enum Precision {
        case day, minute, second, millisecond
    }

    /// The day; nil for a time alone.
    var date: CivilDate?
    var hour = 0
    var minute = 0
    var second = 0
    var millisecond = 0
    var precision: Precision

    /// The offset from UTC in minutes; nil if the text has none.
    var zone: Int?

    /// The largest `zone`, as in Foundation's `TimeZone`.
    static let largestZone = 18 * 60

    init(date: CivilDate?, precision: Precision) {
        self.date = date
        self.precision = precision
    }

    /// Whether the day and the time exist. 24:00 is the end of a day.
    @inline(__always)
    var exists: Bool {
        if let date, !date.exists { return false }
        guard 0...59 ~= minute, 0...59 ~= second, 0...999 ~= millisecond else { return false }
        return 0...23 ~= hour || (hour == 24 && minute == 0 && second == 0 && millisecond == 0)
    }
}

// MARK: - Instants

extension DateText {
    /// The milliseconds since 1970-01-01 00:00:00 UTC whose year is from 0 to 9999.
    static let millisecondsSince1970 = -62_167_219_200_000...253_402_300_799_999

    /// "yyyy-MM-dd HH:mm:ss.SSS" in UTC of an instant, which must be one of `millisecondsSince1970`.
    @inline(__always)
    init(millisecondsSince1970 milliseconds: Int) {
        // Division of positive numbers truncates as needed.
        let sinceYear0 = UInt(bitPattern: milliseconds &- Self.millisecondsSince1970.lowerBound)
        let day = Int(bitPattern: sinceYear0 / 86_400_000)
        let ofDay = UInt32(truncatingIfNeeded: sinceYear0 % 86_400_000)
        date = CivilDate(daysSince1970: day &+ CivilDate.daysSince1970.lowerBound)
        let seconds = ofDay / 1000
        let minutes = seconds / 60
        hour = Int(minutes / 60)
        minute = Int(minutes % 60)
        second = Int(seconds % 60)
        millisecond = Int(ofDay % 1000)
        precision = .millisecond
    }

    /// Milliseconds since 1970-01-01 00:00:00 UTC; nil for a time alone.
    @inline(__always)
    var millisecondsSince1970: Int? {
        guard let date else { return nil }
        let minutes = (date.daysSince1970 &* 24 &+ hour) &* 60 &+ minute &- (zone ?? 0)
        return (minutes &* 60 &+ second) &* 1000 &+ millisecond
    }
}

// MARK: - Reading

extension DateText {
    /// Reads a whole text; nil if it has another format.
    ///
    /// `YYYY-MM-DD`, `HH:MM[:SS[.S…]]`, or both with a space or a `T` between; a time may end in `Z` or `±HH:MM`.
    /// Digits beyond milliseconds are ignored. Days and times that don't exist, such as 30 February, are nil.
    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer) {
        if let usual = Self(usual: text) {
            self = usual
        } else {
            self.init(any: text)
        }
    }

    /// Reads `YYYY-MM-DD HH:MM:SS.SSS`, eight bytes at a time.
    @inline(__always)
    private init?(usual text: UnsafeRawBufferPointer) {
        guard text.count == 23 else { return nil }
        let date = EightBytes(text, at: 0, pattern: 0x2D30_302D_3030_3030)  // "0000-00-"
        let time = EightBytes(text, at: 8, pattern: 0x3030_3A30_3020_3030)  // "00 00:00"
        let rest = EightBytes(text, at: 15, pattern: 0x3030_302E_3030_3A30)  // "0:00.000"
        guard (date.faults | time.faults | rest.faults) == 0 else { return nil }
        self.init(
            date: CivilDate(
                year: date.twoDigits(0) &* 100 &+ date.twoDigits(2), month: date.twoDigits(5), day: time.twoDigits(0)),
            precision: .millisecond)
        hour = time.twoDigits(3)
        minute = time.twoDigits(6)
        second = rest.twoDigits(2)
        millisecond = rest.twoDigits(5) &* 10 &+ rest.digit(7)
        guard exists else { return nil }
    }

    /// `millisecondsSince1970` of a whole text; nil for another format.
    @inline(__always)
    static func millisecondsSince1970(of text: UnsafeRawBufferPointer) -> Int? {
        if let usual = Self(usual: text) { return usual.millisecondsSince1970 }
        return Self(any: text)?.millisecondsSince1970
    }

    @inline(never)
    private init?(any text: UnsafeRawBufferPointer) {
        precision = .day
        var digits = DigitReader(text)
        if text.count >= 10, text[4] == UInt8(ascii: "-") {
            let date = CivilDate(
                year: digits.twoDigits(at: 0) &* 100 &+ digits.twoDigits(at: 2),
                month: digits.twoDigits(at: 5), day: digits.twoDigits(at: 8))
            digits.expect("-", at: 7)
            self.date = date
            digits.position = 10
        }
        if date == nil || !digits.isAtEnd {
            guard
                date == nil || digits.skip(" ") || digits.skip("T"),
                readTime(&digits), readZone(&digits), digits.isAtEnd
            else { return nil }
        }
        guard digits.areValid, exists else { return nil }
    }

    @inline(__always)
    private mutating func readTime(_ digits: inout DigitReader) -> Bool {
        guard digits.remains(5) else { return false }
        hour = digits.twoDigits(at: digits.position)
        digits.expect(":", at: digits.position &+ 2)
        minute = digits.twoDigits(at: digits.position &+ 3)
        digits.position &+= 5
        precision = .minute
        guard digits.skip(":") else { return true }
        guard digits.remains(2) else { return false }
        second = digits.twoDigits(at: digits.position)
        digits.position &+= 2
        precision = .second
        guard digits.skip(".") else { return true }
        guard let first = digits.next() else { return false }
        precision = .millisecond
        millisecond = first &* 100
        guard let second = digits.next() else { return true }
        millisecond &+= second &* 10
        guard let third = digits.next() else { return true }
        millisecond &+= third
        while digits.next() != nil {}
        return true
    }

    @inline(__always)
    private mutating func readZone(_ digits: inout DigitReader) -> Bool {
        if digits.isAtEnd { return true }
        if digits.skip("Z") {
            zone = 0
            return true
        }
        let isBehind = digits.skip("-")
        guard isBehind || digits.skip("+"), digits.remains(5) else { return false }
        let hours = digits.twoDigits(at: digits.position)
        digits.expect(":", at: digits.position &+ 2)
        let minutes = digits.twoDigits(at: digits.position &+ 3)
        digits.position &+= 5
        let zone = hours &* 60 &+ minutes
        self.zone = isBehind ? 0 &- zone : zone
        return minutes <= 59 && zone <= Self.largestZone
    }
}

/// Eight bytes of a text, compared with a pattern: digits for its zeros, and otherwise the same characters.
private struct EightBytes {
    // One digit in each byte, the first in the lowest.
    private let digits: UInt64

    // Each byte is the number of its digit and the next one.
    private let pairs: UInt64

    /// Zero if the text matches the pattern.
    let faults: UInt64

    /// - parameter pattern: eight characters, the first in the lowest byte.
    @inline(__always)
    init(_ text: UnsafeRawBufferPointer, at offset: Int, pattern: UInt64) {
        let everyByte: UInt64 = 0x0101_0101_0101_0101
        // A valid digit becomes 0…9, a valid separator 0. The addend brings the first invalid number to 128, so that
        // the sum has the high bit set in invalid bytes. A carry comes only from a byte that has its own high bit set.
        let digits = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ pattern
        let separators = ((pattern ^ (everyByte &* 0x30)) &+ (everyByte &* 0x7F)) >> 7 & everyByte
        let toHighBit = everyByte &* (128 - 10) &+ separators &* 9
        faults = (digits | (digits &+ toHighBit)) & (everyByte &* 0x80)
        pairs = digits &* 10 &+ (digits >> 8)
        self.digits = digits
    }

    @inline(__always)
    func digit(_ index: Int) -> Int { Int(digits >> UInt64(8 &* index) & 0xFF) }

    @inline(__always)
    func twoDigits(_ index: Int) -> Int { Int(pairs >> UInt64(8 &* index) & 0xFF) }
}

/// Reads digits and separators, and records whether any byte was invalid, so that one branch checks a whole text.
private struct DigitReader {
    private let text: UnsafeRawBufferPointer
    var position = 0

    // The high bit is set once a byte was invalid.
    private var faults: UInt32 = 0

    @inline(__always)
    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
    }

    @inline(__always)
    var isAtEnd: Bool { position == text.count }

    @inline(__always)
    var areValid: Bool { faults >> 31 == 0 }

    @inline(__always)
    func remains(_ count: Int) -> Bool { position &+ count <= text.count }

    /// The number of two digits, which must be within the text.
    @inline(__always)
    mutating func twoDigits(at index: Int) -> Int {
        let tens = UInt32(text[index]) &- 48
        let ones = UInt32(text[index &+ 1]) &- 48
        faults |= tens | ones | (9 &- tens) | (9 &- ones)
        return Int(truncatingIfNeeded: tens &* 10 &+ ones)
    }

    /// Checks a byte, which must be within the text.
    @inline(__always)
    mutating func expect(_ character: Unicode.Scalar, at index: Int) {
        if text[index] != UInt8(ascii: character) { faults = .max }
    }

    @inline(__always)
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
        position &+= 1
        return true
    }

    /// The next byte, if it is a digit.
    @inline(__always)
    mutating func next() -> Int? {
        guard position < text.count, text[position] &- 48 <= 9 else { return nil }
        defer { position &+= 1 }
        return Int(text[position] &- 48)
    }
}

// MARK: - Writing

extension DateText {
    /// The bytes of the longest text: `2024-02-29 23:59:59.999+02:00`.
    static let longest = 29

    /// Writes the parts up to `precision`, and returns the number of bytes written. The text must exist.
    ///
    /// A zone is written even after a time alone.
    @inline(__always)
    func write(to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var writer = DigitWriter(buffer)
        if let date {
            writer.write(twoDigits: date.year / 100)
            writer.write(twoDigits: date.year % 100)
            writer.write("-")
            writer.write(twoDigits: date.month)
            writer.write("-")
            writer.write(twoDigits: date.day)
            if precision == .day { return writer.count }
            writer.write(" ")
        }
        writer.write(twoDigits: hour)
        writer.write(":")
        writer.write(twoDigits: minute)
        if precision == .second || precision == .millisecond {
            writer.write(":")
            writer.write(twoDigits: second)
        }
        if precision == .millisecond {
            writer.write(".")
            writer.write(digit: millisecond / 100)
            writer.write(twoDigits: millisecond % 100)
        }
        if let zone {
            writer.write(zone < 0 ? "-" : "+")
            writer.write(twoDigits: abs(zone) / 60)
            writer.write(":")
            writer.write(twoDigits: abs(zone) % 60)
        }
        return writer.count
    }

    /// The text.
    var string: String {
        String(unsafeUninitializedCapacity: Self.longest) { write(to: $0) }
    }
}

private struct DigitWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    @inline(__always)
    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        self.buffer = buffer
    }

    @inline(__always)
    mutating func write(_ character: Unicode.Scalar) {
        buffer[count] = UInt8(ascii: character)
        count &+= 1
    }

    @inline(__always)
    mutating func write(digit: Int) {
        buffer[count] = 48 &+ UInt8(truncatingIfNeeded: digit)
        count &+= 1
    }

    @inline(__always)
    mutating func write(twoDigits number: Int) {
        let number = UInt32(truncatingIfNeeded: number)
        write(digit: Int(number / 10))
        write(digit: Int(number % 10))
    }
}
