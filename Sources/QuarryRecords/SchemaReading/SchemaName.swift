import QuarryCore

/// A name that is equal to another if SQLite considers both the same.
package struct SchemaName: Hashable {
    private let text: String

    package init(_ name: String) { text = name.lowercasedASCII }

    package static func == (lhs: SchemaName, rhs: SchemaName) -> Bool { lhs.text.isSameName(as: rhs.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8Bytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Collection<String> {
    package var schemaNames: [SchemaName] { map { SchemaName($0) } }
}
