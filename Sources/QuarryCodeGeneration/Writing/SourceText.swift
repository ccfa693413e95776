/// Swift source, line by line.
struct SourceText {
    private(set) var text = ""
    private var level = 0

    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: "    ", count: level) + line }
        text += "\n"
    }

    /// A line that ends with a brace, what it holds, and the other brace.
    ///
    /// - parameter parameter: the parameter of a closure.
    mutating func block(_ head: String, parameter: String? = nil, _ body: (inout SourceText) -> Void) {
        line(head + " {" + (parameter.map { " \($0) in" } ?? ""))
        level += 1
        body(&self)
        level -= 1
        line("}")
    }

    /// A comment of a line, whatever the text has.
    mutating func comment(_ text: String, mark: String = "//") {
        let words = text.split { $0.isNewline || $0 == " " }.map { word in
            String(String.UnicodeScalarView(word.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        }
        var line = mark
        for word in words {
            if line.count + word.count + 1 + 4 * level > 120, line != mark {
                self.line(line)
                line = mark
            }
            line += " " + word
        }
        self.line(line)
    }

    /// A call whose last argument is SQL.
    mutating func call(_ head: String, sql: String) {
        let isPlain = sql.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" || $0 == "\t" }
        guard isPlain else { return line("\(head)(sql: \(SwiftName.literal(sql)))") }
        // So many that nothing in the text ends it, or is an escape.
        var marks = ""
        while sql.contains("\"\"\"" + marks) || sql.contains("\\" + marks) { marks += "#" }
        line(head + "(")
        level += 1
        line("sql: " + marks + "\"\"\"")
        level += 1
        for part in sql.split(separator: "\n", omittingEmptySubsequences: false) { line(String(part)) }
        line("\"\"\"" + marks + ")")
        level -= 2
    }
}
