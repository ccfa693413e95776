/// Names of Swift for names of SQL, which may have any characters.
enum SwiftName {
    /// Whether a name needs at most backticks.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return isHead(first) && name.unicodeScalars.dropFirst().allSatisfy(isTail) && name != "_"
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isXIDStart }

    private static func isTail(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }

    /// The parts of a name that an identifier can have.
    private static func words(_ name: String, splitsAtUnderscores: Bool) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if isTail(scalar), !(splitsAtUnderscores && scalar == "_") {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// `TeamMember` for `team_member`; nil if no character is left.
    static func type(_ name: String) -> String? {
        var words = words(name, splitsAtUnderscores: true)
        // PLAYER_TEAM is no abbreviation.
        if !name.contains(where: \.isLowercase) { words = words.map { $0.lowercased() } }
        let joined = words.map { capitalized($0) }.joined()
        return joined.isEmpty ? nil : headed(joined)
    }

    /// The name itself where it can be one, else `fullName` for `full name`; nil if no character is left.
    static func property(_ name: String, camelCase: Bool) -> String? {
        if isIdentifier(name), !camelCase { return name }
        var words = words(name, splitsAtUnderscores: camelCase)
        guard !words.isEmpty else { return nil }
        if !name.contains(where: \.isLowercase), camelCase { words = words.map { $0.lowercased() } }
        words[0] = uncapitalized(words[0])
        let name = headed(words[0] + words.dropFirst().map { capitalized($0) }.joined())
        return name == "_" ? nil : name
    }

    private static func headed(_ name: String) -> String {
        name.unicodeScalars.first.map(isHead) == true ? name : "_" + name
    }

    static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// `teamMember` for `TeamMember`, `url` for `URL`, `idCard` for `IDCard`.
    static func uncapitalized(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }.count
        if capitals == 0 { return word }
        if capitals == word.count || capitals == 1 {
            return word.prefix(capitals).lowercased() + word.dropFirst(capitals)
        }
        return word.prefix(capitals - 1).lowercased() + word.dropFirst(capitals - 1)
    }

    // MARK: - Writing

    /// The identifier with backticks where it needs them.
    static func escaped(_ name: String) -> String { ReservedNames.keywords.contains(name) ? "`\(name)`" : name }

    /// A text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                literal += "\\"
                literal.unicodeScalars.append(scalar)
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            default:
                if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    || [0x2028, 0x2029].contains(scalar.value)
                {
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    literal.unicodeScalars.append(scalar)
                }
            }
        }
        return literal + "\""
    }

    static func literals(_ texts: [String]) -> String { "[" + texts.map(literal).joined(separator: ", ") + "]" }
}

/// Gives each thing in a scope a name of its own.
struct NameScope {
    private var taken: Set<String>

    init(reserved: Set<String> = []) { taken = reserved }

    /// The first of some names that is free, or the last with a number.
    mutating func take(_ candidates: String...) -> String {
        for name in candidates where taken.insert(name).inserted { return name }
        let name = candidates.last ?? "_"
        var number = 2
        while !taken.insert(name + "\(number)").inserted { number += 1 }
        return name + "\(number)"
    }
}
