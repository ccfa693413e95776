import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Whatever goes in, an error with its code and message comes out, and the connection goes on.
@Suite struct BadInputTests {
    /// The name of a mistake finds its row of the table.
    @Test func eachMistakeHasItsOwnName() {
        let names = Dictionary(grouping: BadInput.all, by: \.name)
        #expect(names.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test(arguments: BadInput.all) func mistakeThrowsItsErrorAndTheConnectionGoesOn(_ input: BadInput) throws {
        switch input.place {
        case .connection(let body):
            let queue = try makeQueue()
            try queue.writeWithoutTransaction { db in
                check(input) { try body(db) }
                try #require(!db.isInsideTransaction)
                try BadInput.probe(db)
            }
            try probe(queue)
        case .read(let body):
            let queue = try makeQueue()
            try queue.read { db in
                check(input) { try body(db) }
                let name = try String.fetchOne(db, sql: "SELECT name FROM player")
                try #require(name == "Arthur")
            }
            try probe(queue)
        case .queue(let body):
            let queue = try makeQueue()
            check(input) { try body(queue) }
            try probe(queue)
        case .pool(let body):
            let folder = try TemporaryFolder(isFast: true)
            let pool = try DatabasePool(path: folder.file("a.sqlite"))
            try pool.write(BadInput.makeTables)
            check(input, folder) { try body(pool, folder) }
            try probe(pool)
        case .files(let prepare, let body):
            let folder = try TemporaryFolder(isFast: true)
            try prepare.run(folder)
            let before = try contents(folder)
            check(input, folder) { try body(folder) }
            #expect(try contents(folder) == before)
            #expect(try folder.openFiles == [])
        }
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write(BadInput.makeTables)
        return queue
    }

    private func probe(_ writer: some DatabaseWriter) throws {
        try writer.write(BadInput.probe)
        try writer.read { db in
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player WHERE id <= 2")
            try #require(count == 2)
        }
    }

    /// Runs what is wrong, and compares the error.
    private func check(_ input: BadInput, _ folder: TemporaryFolder? = nil, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was thrown")
        } catch {
            var description = BadInput.description(of: error).replacing("\0", with: "\\0").replacing("\n", with: "\\n")
            if let folder { description = description.replacing(folder.path, with: "FOLDER") }
            #expect(input.expected.contains(description))
        }
    }

    /// The files of a folder with their sizes.
    private func contents(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            return "\(name): \(attributes[.size] ?? 0) bytes"
        }
    }
}

extension BadInput {
    /// All there are, by subject.
    static let all: [BadInput] = [
        sqlText, severalStatements, limits, constraints, arguments, encoding, decoding, textDecoding, columns, cursors,
        names, functions, aggregates, reentrantFunctions, statements, transactions, accesses, snapshots, configurations,
        files, damagedFiles, faults, blobs, backups, serialization, maintenance,
        fullText,
    ].flatMap { $0 }
}
