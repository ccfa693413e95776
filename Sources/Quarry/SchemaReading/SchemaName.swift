import QuarryCore

/// A name as SQLite compares names: by bytes, the letters A to Z without their case.
struct SchemaName: Hashable {
    private let text: String

    init(_ name: String) {
        text = name.utf8.contains { 65...90 ~= $0 } ? name.lowercasedASCII : name
    }

    // Strings themselves compare by what they look like: SQLite doesn't.
    static func == (lhs: SchemaName, rhs: SchemaName) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Collection<String> {
    var schemaNames: [SchemaName] { map { SchemaName($0) } }
}
