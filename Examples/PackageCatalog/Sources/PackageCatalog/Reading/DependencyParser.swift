/// An error in a dependency field.
struct DependencySyntaxError: Error, Equatable {
    let reason: String
}

/// Reads a dependency field by the grammar of Debian policy 7.1:
/// <https://www.debian.org/doc/debian-policy/ch-relationships.html#syntax-of-relationship-fields>.
struct DependencyParser {
    /// The bytes of a name, a version or another word. Policy has no bound; the longest word of Debian 12 has 73.
    static let maximumWordLength = 255

    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0

    /// - parameter limit: how many alternatives the entries may have together.
    init(_ text: String, limit: Int = .max) {
        bytes = Array(text.utf8)
        self.limit = limit
    }

    mutating func entries() throws(DependencySyntaxError) -> [[Dependency.Alternative]] {
        skipSpace()
        if position == bytes.count { return [] }
        var entries: [[Dependency.Alternative]] = []
        var count = 0
        repeat {
            var alternatives: [Dependency.Alternative] = []
            repeat {
                count += 1
                guard count <= limit else { throw DependencySyntaxError(reason: "too many alternatives") }
                alternatives.append(try alternative())
            } while takes("|")
            entries.append(alternatives)
        } while takes(",")
        guard position == bytes.count else { throw expected("',' or '|'") }
        return entries
    }

    private mutating func alternative() throws(DependencySyntaxError) -> Dependency.Alternative {
        skipSpace()
        var alternative = Dependency.Alternative(name: try word("a package name", where: \.isNameByte))
        guard alternative.name.isPackageName else {
            throw DependencySyntaxError(reason: "bad package name \(alternative.name.quoted)")
        }
        // The colon follows the name immediately: `python3 :any` is not a qualifier.
        if position < bytes.count, bytes[position] == UInt8(ascii: ":") {
            position += 1
            alternative.qualifier = try word("an architecture after ':'", where: \.isNameByte)
        }
        if takes("(") { alternative.requirement = try requirement() }
        if takes("[") { alternative.architectures = try list(until: "]", of: "an architecture") }
        var profiles: [String] = []
        while takes("<") { profiles.append("<" + (try list(until: ">", of: "a build profile")) + ">") }
        if !profiles.isEmpty { alternative.profiles = profiles.joined(separator: " ") }
        return alternative
    }

    private mutating func requirement() throws(DependencySyntaxError) -> Dependency.Requirement {
        skipSpace()
        let sign = try word("a version relation", where: \.isRelationByte)
        // Old packages write < and >, which have always meant "or equal".
        let modern = sign == "<" ? "<=" : sign == ">" ? ">=" : sign
        guard let relation = Dependency.Relation(rawValue: modern) else {
            throw DependencySyntaxError(reason: "unknown version relation '\(sign)'")
        }
        skipSpace()
        let version = try word("a version", where: \.isVersionByte)
        guard takes(")") else { throw expected("')'") }
        return Dependency.Requirement(relation: relation, version: version)
    }

    private mutating func list(
        until end: Unicode.Scalar, of what: String
    ) throws(DependencySyntaxError) -> String {
        var words: [String] = []
        repeat {
            skipSpace()
            words.append(try word(what) { $0.isNameByte || $0 == UInt8(ascii: "!") })
        } while !takes(end)
        return words.joined(separator: " ")
    }

    private mutating func word(
        _ what: String, where belongs: (UInt8) -> Bool
    ) throws(DependencySyntaxError) -> String {
        let start = position
        while position < bytes.count, belongs(bytes[position]) { position += 1 }
        guard position > start else { throw expected(what) }
        guard position - start <= Self.maximumWordLength else {
            throw DependencySyntaxError(reason: "\(what) longer than \(Self.maximumWordLength) bytes")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func takes(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: sign) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A].contains(bytes[position]) { position += 1 }
    }

    private func expected(_ what: String) -> DependencySyntaxError {
        // A character has as many combining marks as a text likes.
        let found = String(decoding: bytes[position...].prefix(64), as: UTF8.self).first.map { "'\($0)'" }
        return DependencySyntaxError(reason: "expected \(what), found \(found ?? "the end")")
    }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    fileprivate var isNameByte: Bool { isAlphanumeric || "+-.".utf8.contains(self) }
    fileprivate var isVersionByte: Bool { isNameByte || "~:".utf8.contains(self) }
    fileprivate var isRelationByte: Bool { "<=>".utf8.contains(self) }
}

extension String {
    /// Policy asks for lower case, which not every repository heeds.
    var isPackageName: Bool { utf8.first?.isAlphanumeric == true && utf8.allSatisfy(\.isNameByte) }
    var isPackageVersion: Bool { !isEmpty && utf8.allSatisfy(\.isVersionByte) }
}
