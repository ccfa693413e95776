import Quarry

/// A binary package, as one stanza of a control file describes it.
struct Package: CatalogRow {
    var name: String
    /// Empty where the stanza has none, as in what dpkg remembers of a purged package.
    var architecture: String
    var version: String
    /// dpkg's word for it (`installed`, `config-files`…), or `available` in a list of what could be installed.
    var state: String
    var section: String?
    var maintainer: String?
    /// As the maintainer has written it: any text.
    var homepage: String?
    /// In KiB, as `Installed-Size` is.
    var installedSize: Int?
    /// In bytes, of the package's file.
    var downloadSize: Int?
    /// The first line of the description.
    var summary: String?
    /// The lines after the first, without their indentation.
    var description: String?
    /// The catalogue keeps these in a separate table.
    var dependencies: [Dependency] = []

    private enum CodingKeys: CodingKey {
        case name, architecture, version, state, section, maintainer, homepage, installedSize, downloadSize, summary
        case description
    }

    static let available = "available"

    /// The alternatives that all dependency fields of a stanza may have. The largest package of Debian 12 has 980.
    static let maximumAlternatives = 10_000

    /// The fields that a `ControlFileParser` should keep.
    static let fieldNames = Set(
        [
            "package", "architecture", "version", "status", "section", "maintainer", "homepage", "installed-size",
            "size", "description",
        ] + Dependency.Kind.allCases.map { $0.rawValue.lowercased() })

    /// Texts that lists show are bounded, so that a page of packages is. A description is shown alone.
    ///
    /// - throws: `MalformedStanza` where a field is missing, too long, or says nothing that makes sense.
    init(stanza: Stanza) throws(MalformedStanza) {
        guard let name = try Self.field("Package", of: stanza, limit: DependencyParser.maximumWordLength) else {
            throw MalformedStanza(line: stanza.line, reason: "no Package field")
        }
        guard name.value.isPackageName else {
            throw MalformedStanza(line: name.line, reason: "bad package name \(name.value.quoted)")
        }
        self.name = name.value
        architecture = try Self.field("Architecture", of: stanza, limit: 64)?.value ?? ""
        section = try Self.field("Section", of: stanza, limit: 128)?.value
        maintainer = try Self.field("Maintainer", of: stanza, limit: 1024)?.value
        homepage = try Self.field("Homepage", of: stanza, limit: 2048)?.value
        let text = stanza.fields["description"]?.value.withoutControlCharacters ?? ""
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        summary = lines.first.map(String.init)
        if let summary, summary.utf8.count > 4096 {
            let line = stanza.fields["description"]?.line ?? stanza.line
            throw MalformedStanza(line: line, reason: "summary longer than 4096 bytes")
        }
        // A dot means an empty line: https://www.debian.org/doc/debian-policy/ch-controlfields.html#description
        description = lines.count < 2 ? nil : lines.dropFirst().map { $0 == "." ? "" : $0 }.joined(separator: "\n")
        version = try Self.version(stanza)
        state = try Self.state(stanza)
        installedSize = try Self.number("Installed-Size", in: stanza)
        downloadSize = try Self.number("Size", in: stanza)
        for kind in Dependency.Kind.allCases {
            guard let field = stanza.fields[kind.rawValue.lowercased()] else { continue }
            let limit = Self.maximumAlternatives - dependencies.reduce(0) { $0 + $1.alternatives.count }
            do {
                dependencies += try Dependency.parse(field.value, kind: kind, limit: limit)
            } catch {
                throw MalformedStanza(line: field.line, reason: "bad \(kind.rawValue): \(error.reason)")
            }
        }
    }

    private static func field(
        _ name: String, of stanza: Stanza, limit: Int
    ) throws(MalformedStanza) -> Stanza.Field? {
        guard let field = stanza.fields[name.lowercased()] else { return nil }
        guard field.value.utf8.count <= limit else {
            throw MalformedStanza(line: field.line, reason: "\(name) longer than \(limit) bytes")
        }
        return field
    }

    private static func version(_ stanza: Stanza) throws(MalformedStanza) -> String {
        guard let field = try field("Version", of: stanza, limit: DependencyParser.maximumWordLength) else { return "" }
        guard field.value.isPackageVersion else {
            throw MalformedStanza(line: field.line, reason: "bad Version \(field.value.quoted)")
        }
        return field.value
    }

    /// `Status` has three words: what is wanted, a flag, and the state.
    private static func state(_ stanza: Stanza) throws(MalformedStanza) -> String {
        guard let field = try field("Status", of: stanza, limit: 128) else { return available }
        let words = field.value.split(separator: " ")
        guard words.count == 3 else {
            throw MalformedStanza(line: field.line, reason: "bad Status \(field.value.quoted)")
        }
        return String(words[2])
    }

    private static func number(_ name: String, in stanza: Stanza) throws(MalformedStanza) -> Int? {
        guard let field = stanza.fields[name.lowercased()] else { return nil }
        // Sums of sizes must fit into an integer of SQLite's.
        guard let number = Int(field.value), (0...1 << 40).contains(number) else {
            throw MalformedStanza(line: field.line, reason: "bad \(name) \(field.value.quoted)")
        }
        return number
    }
}

extension Package {
    /// About the bytes that it takes in memory: imports hold no more than some packages.
    var weight: Int {
        let texts = [name, architecture, version, state, section, maintainer, homepage, summary, description]
        return texts.reduce(500) { $0 + ($1?.utf8.count ?? 0) } + dependencies.reduce(0) { $0 + $1.weight }
    }
}

extension Dependency {
    fileprivate var weight: Int {
        alternatives.reduce(0) { sum, alternative in
            let texts = [alternative.name, alternative.architectures, alternative.profiles]
            return texts.reduce(sum + 200) { $0 + ($1?.utf8.count ?? 0) }
        }
    }
}

extension String {
    /// The text with U+FFFD in the place of control characters, two of which mark the words that a search finds. Line
    /// breaks and tabs stay.
    fileprivate var withoutControlCharacters: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 && scalar != "\n" && scalar != "\t" }
        guard unicodeScalars.contains(where: isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
    }
}
