import Quarry

/// One entry of a dependency field: any of its alternatives satisfies it.
///
///     // Depends: default-mta | mail-transport-agent, libc6 (>= 2.36)
///     let dependencies = try Dependency.parse(value, kind: .depends)
///     dependencies[0].alternatives.map(\.name)  // ["default-mta", "mail-transport-agent"]
struct Dependency: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable, Codable, DatabaseValueConvertible {
        case depends = "Depends"
        case preDepends = "Pre-Depends"
        case recommends = "Recommends"
        case suggests = "Suggests"

        /// Required packages, and optional ones.
        static let needs = [depends, preDepends]
        static let wishes = [recommends, suggests]
    }

    enum Relation: String, Sendable, Codable, DatabaseValueConvertible {
        case earlier = "<<"
        case earlierOrEqual = "<="
        case equal = "="
        case laterOrEqual = ">="
        case later = ">>"
    }

    struct Requirement: Sendable, Equatable {
        var relation: Relation
        var version: String
    }

    struct Alternative: Sendable, Equatable {
        var name: String
        /// The architecture after a colon: `any` in `python3:any`.
        var qualifier: String?
        var requirement: Requirement?
        /// The text in brackets: `amd64 !i386`.
        var architectures: String?
        /// The text in angle brackets: `<!nocheck> <cross>`.
        var profiles: String?
    }

    var kind: Kind
    var alternatives: [Alternative]

    /// The entries of a field, in order; an empty field has none.
    ///
    /// - parameter limit: how many alternatives the entries may have together.
    /// - throws: `DependencySyntaxError`, with the expected and the actual text.
    static func parse(
        _ text: String, kind: Kind, limit: Int = .max
    ) throws(DependencySyntaxError) -> [Dependency] {
        var parser = DependencyParser(text, limit: limit)
        return try parser.entries().map { Dependency(kind: kind, alternatives: $0) }
    }
}

extension Dependency.Alternative: CustomStringConvertible {
    /// As a control file writes it: `python3:any (>= 3.9) [amd64] <!nocheck>`.
    var description: String {
        [
            name + (qualifier.map { ":\($0)" } ?? ""),
            requirement.map { "(\($0.relation.rawValue) \($0.version))" },
            architectures.map { "[\($0)]" },
            profiles,
        ]
        .compactMap(\.self).joined(separator: " ")
    }
}

extension Dependency: CustomStringConvertible {
    var description: String { alternatives.map(\.description).joined(separator: " | ") }
}
