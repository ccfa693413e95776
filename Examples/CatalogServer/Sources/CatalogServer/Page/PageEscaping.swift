import Mustache

/// Escapes each Unicode scalar that HTML gives a meaning to.
///
/// Mustache's own escaping looks at characters: a quotation mark that a combining accent follows is another character
/// to it, and stays as it is. Browsers read scalars, so such a mark would end an attribute.
struct PageEscaping: MustacheContentType {
    static let name = "CATALOG"

    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            // An HTML document must not contain NUL: https://html.spec.whatwg.org/#preprocessing-the-input-stream
            case "\0": escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
