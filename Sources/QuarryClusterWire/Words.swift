extension [UInt8] {
    /// The word that begins at an offset. Its bytes exist.
    func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count - 8)
        return withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }

    mutating func append(word: UInt64) {
        Swift.withUnsafeBytes(of: word.littleEndian) { append(contentsOf: $0) }
    }

    /// Overwrites the word that begins at an offset.
    mutating func set(word: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 8)
        withUnsafeMutableBytes { $0.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self) }
    }

    /// Appends zeros up to a whole number of words.
    mutating func pad(from start: Int) {
        let rest = (count - start) % 8
        if rest > 0 { append(contentsOf: repeatElement(0, count: 8 - rest)) }
    }
}

extension Int {
    /// The number of bytes of the words that hold this number of bytes. The number is that of existing bytes.
    var roundedUpToWords: Int { (self + 7) / 8 * 8 }
}

extension UInt64 {
    /// The index of the lowest byte that is zero.
    var indexOfZeroByte: Int? {
        let marks = (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080
        return marks == 0 ? nil : marks.trailingZeroBitCount / 8
    }
}
