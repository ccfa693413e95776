import Foundation
import Quarry
import QuarryCodeGeneration
import Testing

/// Schemas made of chance: the compiler takes what is generated, all of them in one module.
@Suite struct RandomSchemaTests {
    /// SplitMix64.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let words = [
        "id", "name", "order", "orders", "class", "self", "Type", "Int", "String", "data", "init", "a b", "a-b", "aB",
        "1",
        "é", "e\u{301}", "電話", "🚀", "", "\"", "\\", "\\(x)", "\n", "\t", "\u{7F}", "\u{2028}", "'", "rows", "players",
        "Columns", "CodingKeys", "person_id", "personId", "select", "where", "await", "Protocol", "all", "filter",
        "none",
        "people", "\u{FEFF}x", "x\u{200D}y", "ﬁ", "ß", "_", "__", "$x", "#if", "/*", "*/", "//", "\"\"\"", "`", "nil",
    ]

    private static let types = [
        "", "INTEGER", "TEXT", "REAL", "BLOB", "DATETIME", "BOOLEAN NOT NULL DEFAULT 1", "NUMERIC",
    ]

    private static func schema(_ random: inout Generator) -> [String] {
        var names: Set<String> = []
        var statements: [String] = []
        var tables: [(name: String, columns: [String], key: [String])] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let name = words.randomElement(using: &random) ?? ""
            guard names.insert(name.lowercased()).inserted else { continue }
            var seen: Set<String> = []
            let columns = (0..<Int.random(in: 1...7, using: &random)).compactMap { _ -> String? in
                let column = words.randomElement(using: &random) ?? ""
                // The library compares names as SQLite does, SQLite by bytes.
                return seen.insert(column.lowercased()).inserted ? column : nil
            }
            var items = columns.map { column in
                var item = "\(column.quotedDatabaseIdentifier) \(types.randomElement(using: &random) ?? "")"
                if Int.random(in: 0..<4, using: &random) == 0, let table = tables.randomElement(using: &random),
                    let key = table.key.first, table.key.count == 1
                {
                    item += " REFERENCES \(table.name.quotedDatabaseIdentifier)"
                    if Bool.random(using: &random) { item += " (\(key.quotedDatabaseIdentifier))" }
                }
                return item
            }
            let key = Array(columns.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)))
            let keyList = key.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            if !key.isEmpty { items.append("PRIMARY KEY (\(keyList))") }
            let isWithoutRowID = !key.isEmpty && Bool.random(using: &random)
            statements.append(
                "CREATE TABLE \(name.quotedDatabaseIdentifier) (\(items.joined(separator: ", ")))"
                    + (isWithoutRowID ? " WITHOUT ROWID" : ""))
            tables.append((name: name, columns: columns, key: key))
        }
        if let table = tables.randomElement(using: &random), names.insert("a view").inserted {
            statements.append(
                "CREATE VIEW \"a view\" AS SELECT *, 1 AS \"self\" FROM \(table.name.quotedDatabaseIdentifier)")
        }
        return statements
    }

    @Test func generatedCodeCompiles() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RandomSchemaTests: seed \(seed)")
        var random = Generator(state: seed)
        let folder = try Folder()
        var files: [String] = []
        for number in 0..<12 {
            let statements = Self.schema(&random)
            let code = try code(for: statements.joined(separator: ";\n")) { options in
                options.prefix = "S\(number)"
                options.camelCase = Bool.random(using: &random)
                options.access = GenerationOptions.Access.allCases.randomElement(using: &random) ?? .internal
            }
            // One type serves all.
            for file in code.files where file.name != "AnyDatabaseValue.swift" {
                files.append(try folder.write(file.text, to: file.name))
            }
        }
        let value = try code(for: "CREATE TABLE a (x)") { $0.access = .public }
        let any = try #require(value.files.first { $0.name == "AnyDatabaseValue.swift" })
        files.append(try folder.write(any.text, to: any.name))
        let result = try Command.swiftc(["-typecheck", "-module-name", "Generated"] + files)
        #expect(result.status == 0, "seed \(seed): \(result.output)\(result.error)")
    }
}
