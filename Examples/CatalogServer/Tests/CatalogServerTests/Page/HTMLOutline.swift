/// The tags of a document, as the tokenizer of a browser sees them: the name of each, and the names and values of its
/// attributes. Texts may change; a text that adds a tag or an attribute has escaped from its place.
///
/// Knows double-quoted attributes and those without a value: the page's templates have no others.
struct HTMLOutline {
    struct Tag: Equatable {
        var name: String
        var attributes: [Attribute]
    }

    struct Attribute: Equatable {
        var name: String
        var value: String?
    }

    var tags: [Tag] = []

    /// The tags without the values of their attributes.
    var structure: [String] {
        tags.map { tag in ([tag.name] + tag.attributes.map(\.name)).joined(separator: " ") }
    }

    init(_ html: String) {
        var rest = html.unicodeScalars[...]
        while let start = rest.firstIndex(of: "<") {
            rest = rest[start...].dropFirst()
            // Other characters after `<` make it a text: https://html.spec.whatwg.org/#tag-open-state
            guard let first = rest.first, first == "/" || first == "!" || first.properties.isAlphabetic, first.isASCII
            else { continue }
            let name = Self.take(&rest) { !" \n/>".unicodeScalars.contains($0) || $0 == "/" }
            tags.append(Tag(name: String(name).lowercased(), attributes: Self.attributes(&rest)))
        }
    }

    private static func attributes(_ rest: inout Substring.UnicodeScalarView) -> [Attribute] {
        var attributes: [Attribute] = []
        while let next = rest.first, next != ">" {
            if " \n/".unicodeScalars.contains(next) {
                rest.removeFirst()
                continue
            }
            let name = String(take(&rest) { !" \n/>=".unicodeScalars.contains($0) })
            guard rest.first == "=" else {
                attributes.append(Attribute(name: name))
                continue
            }
            rest.removeFirst()
            if rest.first == "\"" {
                rest.removeFirst()
                attributes.append(Attribute(name: name, value: String(take(&rest) { $0 != "\"" })))
                if rest.first != nil { rest.removeFirst() }
            } else {
                attributes.append(
                    Attribute(name: name, value: String(take(&rest) { !" \n>".unicodeScalars.contains($0) })))
            }
        }
        return attributes
    }

    private static func take(
        _ rest: inout Substring.UnicodeScalarView, while condition: (Unicode.Scalar) -> Bool
    ) -> Substring.UnicodeScalarView {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return taken
    }
}
