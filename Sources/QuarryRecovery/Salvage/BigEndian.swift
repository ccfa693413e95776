// The numbers of SQLite's files: <https://www.sqlite.org/fileformat2.html>. Readings outside of the bytes are nil, so
// that no bytes can make them trap.

extension [UInt8] {
    /// A number of two bytes.
    func bigEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset + 2 <= count else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    /// A number of four bytes.
    func bigEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset + 4 <= count else { return nil }
        return self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    func littleEndian32(at offset: Int) -> UInt32? { bigEndian32(at: offset)?.byteSwapped }

    /// A signed number of one to eight bytes.
    func signed(at offset: Int, size: Int) -> Int64? {
        guard 1...8 ~= size, offset >= 0, offset + size <= count else { return nil }
        let bits = self[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: bits << UInt64(64 - 8 * size)) >> Int64(64 - 8 * size)
    }

    /// A number of variable length, one to nine bytes: <https://www.sqlite.org/fileformat2.html#varint>.
    ///
    /// - parameter end: the end of the bytes that may be read.
    func varint(at offset: Int, end: Int) -> (value: UInt64, size: Int)? {
        let end = Swift.min(end, count)
        guard offset >= 0 else { return nil }
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset + index < end else { return nil }
            let byte = self[offset + index]
            if index == 8 { return (value << 8 | UInt64(byte), 9) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return (value, index + 1) }
        }
        return nil
    }
}
