import QuarryCore

/// A name as SQLite compares names: by bytes, the letters A to Z without their case.
struct SchemaName: Hashable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = name.utf8.map { 65...90 ~= $0 ? $0 | 0x20 : $0 } }
}

extension Collection<String> {
    var schemaNames: [SchemaName] { map { SchemaName($0) } }
}
