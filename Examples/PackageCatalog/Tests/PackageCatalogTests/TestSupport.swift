import Foundation
import Quarry
import Synchronization

@testable import PackageCatalog

/// A control file in memory, in one block.
final class TextSource: ControlFileSource {
    let name: String
    let byteCount: Int?
    private let block: Mutex<[UInt8]?>

    init(_ text: String, name: String = "status") {
        self.name = name
        byteCount = text.utf8.count
        block = Mutex(Array(text.utf8))
    }

    func nextBlock() async throws -> [UInt8]? { block.withLock { $0.take() } }
}

/// The output of a run.
final class Capture: Sendable {
    private let texts = Mutex((output: "", error: ""))

    var output: String { texts.withLock(\.output) }
    var error: String { texts.withLock(\.error) }

    func console(terminal: Bool = false) -> Console {
        Console(
            output: { text in self.texts.withLock { $0.output += text } },
            error: { text in self.texts.withLock { $0.error += text } },
            errorIsTerminal: terminal)
    }
}

/// A folder that is gone after the test.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/catalog-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String? = nil) throws -> String {
        let file = path + "/" + name
        if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
        return file
    }
}

/// Stanzas of packages `p0`, `p1`…, each of which depends on the one before it.
func stanzas(_ count: Int, version: String = "1.0") -> String {
    (0..<count).map { number in
        """
        Package: p\(number)
        Architecture: amd64
        Version: \(version)
        Section: libs
        Installed-Size: \(number)
        \(number == 0 ? "" : "Depends: p\(number - 1)\n")
        """
    }.joined(separator: "\n")
}

extension Catalog {
    static func inMemory() async throws -> Catalog { try await Catalog(DatabaseQueue()) }

    /// A query's rows, their columns joined by `|` as the sqlite3 shell prints them.
    func rows(_ sql: String) async throws -> [String] {
        try await database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { value in
                    switch value.storage {
                    case .null: ""
                    case .int64(let number): "\(number)"
                    case .double(let number): "\(number)"
                    case .string(let text): text
                    case .blob(let data): "\(data)"
                    }
                }.joined(separator: "|")
            }
        }
    }

    @discardableResult
    func importText(_ text: String, batchSize: Int = 500, name: String = "status") async throws -> ImportProgress {
        try await Importer(catalog: self, batchSize: batchSize).run([TextSource(text, name: name)]) { _ in }
    }
}
