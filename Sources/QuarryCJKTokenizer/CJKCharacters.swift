/// A character with its marks, folded to its plain form.
struct FoldedCharacter {
    enum Kind {
        /// A token by itself.
        case gram
        /// A part of a word.
        case word
        /// A mark of the previous character.
        case mark
        /// A separator between words.
        case separator
    }

    /// UTF-8.
    private(set) var bytes: [UInt8] = []
    private(set) var parts: [(kind: Kind, end: Int)] = []

    init(_ text: String, _ removesDiacritics: Bool) {
        for scalar in CompatibilityFolding.fold(text, removesDiacritics: removesDiacritics).unicodeScalars {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            parts.append((scalar.kind, bytes.count))
        }
    }
}

extension UTF8.CodeUnit {
    /// Whether the byte is an ASCII letter or digit.
    var isASCIIWord: Bool { 97...122 ~= self || 65...90 ~= self || 48...57 ~= self }
}

extension Unicode.Scalar {
    fileprivate var kind: FoldedCharacter.Kind {
        if isCJK { return .gram }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            return .word
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
        default: return .separator
        }
    }

    /// Whether the scalar is a Chinese, Japanese or Korean character that is written without spaces.
    private var isCJK: Bool {
        switch value {
        case 0x1100...0x11FF, 0xA960...0xA97F, 0xAC00...0xD7FB: true  // Hangul
        case 0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAFF, 0x20000...0x3FFFD:
            true  // Han
        case 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x31F0...0x31FF,
            0x1AFF0...0x1B16F:
            true  // Kana
        case 0x3105...0x312F, 0x31A0...0x31BF, 0xA000...0xA48C: true  // Bopomofo, Yi
        default: false
        }
    }

    /// Whether the scalar is such a character, and not a variant of another character.
    var isPlainCJK: Bool {
        switch value {
        case 0x3041...0x3096, 0x30A1...0x30FA, 0x30FC...0x30FE, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
            0x20000...0x2F7FF, 0x30000...0x3FFFD, 0x3005, 0x3007:
            true
        default: false
        }
    }

    /// Whether the scalar belongs to the previous character: a mark, a part of a syllable, or invisible.
    var extendsCharacter: Bool {
        switch value {
        case 0x1160...0x11FF, 0xD7B0...0xD7FB, 0xFF9E, 0xFF9F: return true
        case 0x3400...0x9FFF, 0xAC00...0xD7A3, 0x3041...0x3096, 0x30A0...0x30FF: return false
        default:
            let properties = properties
            if properties.isDefaultIgnorableCodePoint { return true }
            switch properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: return true
            default: return false
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The scalar at a position, and its length; nil for bytes that aren't UTF-8.
    func scalar(at position: Int) -> (Unicode.Scalar, Int)? {
        let first = self[position]
        let length: Int
        var value: UInt32
        switch first {
        case 0..<0x80: return (Unicode.Scalar(first), 1)
        case 0xC2...0xDF: (length, value) = (2, UInt32(first & 0x1F))
        case 0xE0...0xEF: (length, value) = (3, UInt32(first & 0x0F))
        case 0xF0...0xF4: (length, value) = (4, UInt32(first & 0x07))
        default: return nil
        }
        guard position + length <= count else { return nil }
        for index in position + 1..<position + length {
            let byte = self[index]
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        let minimum: UInt32 = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80
        guard value >= minimum, let scalar = Unicode.Scalar(value) else { return nil }
        return (scalar, length)
    }
}
