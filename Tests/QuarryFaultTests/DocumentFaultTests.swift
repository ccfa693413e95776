import Foundation
import Quarry
import QuarryDocuments
import QuarryIncrementalWrites
import QuarryTestSupport
import Testing

/// Operations of the disk fail while documents are changed, one in each run: the error is thrown, the documents and
/// their indexes are those of before or after, and the store goes on.
@Suite("Documents on a failing disk", .timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct DocumentFaultTests
{
    struct OldNote: Codable, Sendable {
        var text: String
    }

    struct Note: Codable, Sendable, Hashable {
        var text: String
        var number: Int
    }

    static let store = DocumentStore("document")
    static let oldNotes = store.collection("notes", of: OldNote.self, metadata: Int.self)
    static let notes = store.collection("notes", of: Note.self, metadata: Int.self)
        .version(2)
        .upgrading(1, from: OldNote.self) { old in Note(text: old.text, number: 0) }
    static let text = notes.path("text", as: String.self)

    typealias Documents = [String: Document<Note, Int>]

    /// A change of the documents.
    enum Work: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case set, replaceMetadata, remove, removeAll, upgradeAll, createTextIndex
        var testDescription: String { rawValue }

        func run(_ writer: any DatabaseWriter) throws {
            switch self {
            case .set:
                try writer.write { db in
                    try notes.set(db, key: "a 3", Note(text: "changed", number: 1), metadata: 1)
                    try notes.set(db, key: "new", Note(text: String(repeating: "long ", count: 600), number: 2))
                }
            case .replaceMetadata:
                try writer.write { db in
                    for number in 0..<12 { try notes.replaceMetadata(db, key: "a \(number)", 5) }
                }
            case .remove:
                try writer.write { db in _ = try notes.remove(db, keys: ["a 0", "a 1", "a 11"]) }
            case .removeAll: try writer.write { db in _ = try notes.removeAll(db) }
            case .upgradeAll:
                try notes.upgradeAll(in: writer, batch: 4, pace: IncrementalWritePace(maximumHold: .zero))
            case .createTextIndex:
                try writer.write { db in
                    try notes.dropTextIndex(db, "words")
                    try notes.createTextIndex(db, "words", on: text)
                }
            }
        }
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var operations: FaultVFS.Operations
        var code: ResultCode?
        var andAllAfter: Bool
        var testDescription: String { name }
    }

    static let failure = Fault(name: "I/O error", operations: .all, andAllAfter: false)
    static let failures = Fault(name: "I/O errors from then on", operations: .all, andAllAfter: true)
    static let full = Fault(
        name: "disk full from then on", operations: .write, code: .SQLITE_FULL, andAllAfter: true)

    static let cases: [(Work, Fault)] =
        Work.allCases.flatMap { [($0, failure), ($0, full)] } + [(.set, failures), (.upgradeAll, failures)]

    private static func open(_ path: String, isPool: Bool, vfs: String? = nil) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.vfs = vfs
        configuration.synchronous = .full
        // Pages are written before the commit.
        configuration.cacheSize = 8192
        return isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func prepare(_ path: String, isPool: Bool) throws {
        let writer = try open(path, isPool: isPool)
        try writer.write { db in
            try store.create(in: db)
            try notes.createIndex(db, "text", on: text)
            try notes.createTextIndex(db, "words", on: text)
            for number in 0..<12 {
                let text = String(repeating: "word\(number) ", count: 80)
                if number % 2 == 0 {
                    try oldNotes.set(db, key: "a \(number)", OldNote(text: text), metadata: number)
                } else {
                    try notes.set(db, key: "a \(number)", Note(text: text, number: number))
                }
            }
        }
        try writer.close()
    }

    /// The documents, if the indexes agree with them.
    private static func documents(_ db: Database) throws -> Documents {
        let found = try notes.all().fetchAll(db)
        let documents = Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0) })
        let indexed = try String.fetchAll(
            db, sql: #"SELECT documentKey FROM "document:notes:words:keys" ORDER BY documentKey"#)
        guard indexed == documents.keys.sorted() else { throw FaultWorkload.Wrong("indexed: \(indexed)") }
        for word in ["word1", "word4", "changed", "long"] {
            let byWord = try notes.matching(FTS5Pattern(matchingAllTokensIn: word)!, in: "words").fetchKeys(db)
            let words = documents.values.filter { $0.object.text.split(separator: " ").contains { $0 == word } }
            guard Set(byWord) == Set(words.map(\.key)) else { throw FaultWorkload.Wrong("\(word): \(byWord)") }
        }
        let byText = try notes.filter(text == "changed").fetchKeys(db)
        guard byText == documents.values.filter({ $0.object.text == "changed" }).map(\.key) else {
            throw FaultWorkload.Wrong("changed: \(byText)")
        }
        return documents
    }

    @Test(arguments: cases) func failingOperations(work: Work, fault: Fault) async throws {
        // Both at once: the suite is the last to end.
        let threads = [false, true].map { isPool in OwnThread { try Self.runs(work, fault, isPool: isPool) } }
        for thread in threads {
            let (operations, errors, problems) = try await thread.value(within: 250)
            #expect(problems == [])
            #expect(errors > 0 && errors <= operations, "\(errors) of \(operations)")
        }
    }

    /// Runs a body a second time if an earlier fault reaches it.
    ///
    /// SQLite 3.40 alone does so, too: the pages that FTS5 holds keep the pager in its state of error until the next
    /// read, and a failed lookup of FTS5 makes its next one fail with `SQLITE_CORRUPT_VTAB`.
    private static func settled<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CORRUPT_VTAB
            || [.SQLITE_IOERR, .SQLITE_FULL].contains(error.resultCode.primaryResultCode)
        {
            return try body()
        }
    }

    private static func runs(
        _ work: Work, _ fault: Fault, isPool: Bool
    ) throws -> (operations: Int, errors: Int, problems: [String]) {
        let folder = try TemporaryFolder(isFast: true)
        let vfs = try FaultVFS()
        let original = folder.file("original")
        try prepare(original, isPool: isPool)
        let (before, after) = try {
            let copy = folder.file("expected")
            try FileManager.default.copyItem(atPath: original, toPath: copy)
            let writer = try open(copy, isPool: isPool)
            let before = try writer.read(documents)
            try work.run(writer)
            defer { try? writer.close() }
            return (before, try writer.read(documents))
        }()
        var (operations, errors) = (0, 0)
        var faulted = FaultedOperations()
        var problems: [String] = []
        while true {
            let run = try TemporaryFolder(isFast: true)
            let path = run.file("db")
            try FileManager.default.copyItem(atPath: original, toPath: path)
            let writer = try open(path, isPool: isPool, vfs: vfs.name)
            vfs.arm(fault.operations, nth: faulted.nth, code: fault.code, andAllAfter: fault.andAllAfter)
            var failure: (any Error)?
            do { try work.run(writer) } catch { failure = error }
            let wasReached = vfs.failures > 0
            vfs.disarm()
            let name =
                "\(isPool ? "pool" : "queue"), operation \(faulted.nth), \(failure.map { "\($0)" } ?? "no error")"
            func check(_ possible: [Documents], _ moment: String, _ writer: any DatabaseWriter) {
                do {
                    let found = try settled { try writer.read(documents) }
                    if !possible.contains(found) { problems.append("\(name): \(moment): \(found)") }
                } catch {
                    problems.append("\(name): \(moment): \(error)")
                }
            }
            if let failure {
                errors += 1
                if !wasReached { problems.append("\(name): nothing has failed") }
                let code = (failure as? DatabaseError)?.resultCode.primaryResultCode
                if ![.SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_FULL].contains(code) {
                    problems.append("\(name): another error")
                }
            }
            check(failure == nil ? [after] : [before, after], "afterwards", writer)
            // The store goes on.
            do { try settled { try work.run(writer) } } catch { problems.append("\(name): again: \(error)") }
            check([after], "again", writer)
            try writer.close()
            let reopened = try open(path, isPool: isPool)
            check([after], "opened again", reopened)
            let integrity = try reopened.write { db in
                let table = "document:notes:words"
                try db.execute(sql: #"INSERT INTO "\#(table)"("\#(table)", rank) VALUES ('integrity-check', 0)"#)
                let oldest = try Int.fetchOne(db, sql: "SELECT MIN(version) FROM document")
                if work == .upgradeAll, oldest != 2 { problems.append("\(name): version \(oldest ?? 0) is left") }
                return try String.fetchAll(db, sql: "PRAGMA integrity_check")
            }
            if integrity != ["ok"] { problems.append("\(name): \(integrity)") }
            try reopened.close()
            guard wasReached else { return (operations, errors, problems) }
            operations += 1
            faulted.advance()
        }
    }
}
