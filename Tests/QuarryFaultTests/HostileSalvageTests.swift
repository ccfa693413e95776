import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Files that were made to keep a salvage busy: the pages that it reads, its time on a processor, and the memory that
/// it takes, stay in proportion to the file. A process of its own is measured, so that nothing else counts.
@Suite("Hostile files", .timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct HostileSalvageTests {
    static let pageSize = 512
    /// The pages behind the first two.
    static let overflowCount = 2000

    enum Hostile: String, CaseIterable {
        case chainsThatClaimGigabytes
        case rowsThatShareAChain
        case rowWithAMillionColumns
        case billionsOfPages
        case freelistInACircle
        case journalOfBillionsOfPages
        case logWithAFarPage
        case treeThatRefersToPagesAgainAndAgain
        case cellsThatOverlap
        case tableMadeOfAnEndlessQuery
        case checkThatMakesAGigabyte
        case fullTextOfAnEndlessView
        case rowsOfManyShapes
    }

    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    struct Outcome {
        var pagesRead: Int
        var memory: Int
        var processorMilliseconds: Int
        var end: String
        var targetSize: Int
    }

    private static func salvage(_ path: String) throws -> Outcome {
        // On a busy machine it may wait for a processor for long. The suite's limit is longer.
        let child = try ChildProcess(["salvage-once", path, path + "-new"], deadline: 240)
        let exit = try child.wait()
        guard exit.status == .code(0), exit.errors == "", let line = exit.lines.last else {
            throw Broken(description: "\(exit)")
        }
        let words = line.split(separator: " ", maxSplits: 10)
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-new")[.size] as? Int
        return Outcome(
            pagesRead: Int(words[0])!, memory: Int(words[3])!, processorMilliseconds: Int(words[5])!,
            end: String(words[10]), targetSize: size ?? 0)
    }

    @Test(arguments: Hostile.allCases) func takesWorkAndMemoryInProportion(hostile: Hostile) async throws {
        let (pageCount, outcome) = try await onOwnThread(within: 270) {
            let folder = try TemporaryFolder(isFast: true)
            let path = folder.file(hostile.rawValue)
            let pageCount = try Self.make(hostile, path)
            return (pageCount, try Self.salvage(path))
        }
        print("\(hostile): \(pageCount) pages, \(outcome)")
        #expect(outcome.pagesRead <= 10 * pageCount + 1000)
        // The address sanitizer keeps freed memory for a while.
        if dlsym(nil, "__asan_init") == nil { #expect(outcome.memory < 40_000_000) }
        #expect(outcome.processorMilliseconds < 60_000)
        #expect(outcome.targetSize <= 5 * pageCount * Self.pageSize + 20_000)
        let expected =
            switch hostile {
            // One chain is longer than any record, the other one returns to its beginning.
            case .chainsThatClaimGigabytes: "0 rows, 4 lost"
            case .rowsThatShareAChain: "0 rows, 9 lost"
            case .rowWithAMillionColumns: "0 rows, 0 lost"
            case .billionsOfPages, .freelistInACircle, .journalOfBillionsOfPages, .logWithAFarPage: "1 rows, 0 lost"
            case .treeThatRefersToPagesAgainAndAgain: "0 rows, 0 lost"
            // Twice of what the page can have.
            case .cellsThatOverlap: "0 rows, 9 lost"
            case .tableMadeOfAnEndlessQuery: "1 rows, 0 lost"
            case .checkThatMakesAGigabyte: "1 rows, 1 lost"
            // The row of the settings of the index.
            case .fullTextOfAnEndlessView: "2 rows, 0 lost"
            case .rowsOfManyShapes: "1 rows, 600 lost"
            }
        #expect(outcome.end == expected)
    }

    // MARK: - Files

    /// - returns: the number of pages of the file.
    private static func make(_ hostile: Hostile, _ path: String) throws -> Int {
        try makeDatabase(path, hostile)
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        var companion: (suffix: String, bytes: [UInt8])?
        switch hostile {
        case .chainsThatClaimGigabytes:
            setPage(2, leaf((1...4).map { cell($0, payloadSize: $0 < 3 ? 0x7FFF_FFF0 : 900_000_250) }), &bytes)
            appendChain(end: 3, &bytes)
        case .rowsThatShareAChain:
            let size = 39 + overflowCount * (pageSize - 4)
            setPage(2, leaf((1...9).map { cell($0, payloadSize: size) }), &bytes)
            appendChain(end: 0, &bytes)
        case .rowWithAMillionColumns:
            // All of the record is a header of zeros, which are NULL.
            let size = 39 + overflowCount * (pageSize - 4)
            setPage(2, leaf([cell(1, payloadSize: size, record: varint(size))]), &bytes)
            appendChain(end: 0, &bytes)
        case .billionsOfPages:
            bytes.replaceSubrange(28..<32, with: [0xFF, 0xFF, 0xFF, 0xFF])
            bytes.replaceSubrange(36..<40, with: [0x3B, 0x9A, 0xCA, 0x00])
        case .freelistInACircle:
            // Each trunk has a leaf, the first page of all.
            bytes.replaceSubrange(32..<40, with: number(3) + [0x3B, 0x9A, 0xCA, 0x00])
            for page in 0..<overflowCount {
                let next = page + 1 < overflowCount ? page + 4 : 3
                bytes += filled(number(next) + number(1) + number(2))
            }
        case .journalOfBillionsOfPages:
            // The header, and the record of the second page as it is.
            let page = Array(bytes[pageSize..<2 * pageSize])
            let nonce: UInt32 = 7
            var sum = nonce
            for index in stride(from: pageSize - 200, to: 0, by: -200) { sum &+= UInt32(page[index]) }
            let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
            let header = magic + number(1) + number(nonce) + [0xFF, 0xFF, 0xFF, 0xFF] + number(512) + number(pageSize)
            companion = ("-journal", filled(header) + number(2) + page + number(sum))
        case .logWithAFarPage:
            var log = Log()
            log.append(page: 2, commitSize: 0, Array(bytes[pageSize..<2 * pageSize]))
            log.append(page: 4_000_000_000, commitSize: 4_294_967_295, filled([]))
            companion = ("-wal", log.bytes)
        case .treeThatRefersToPagesAgainAndAgain:
            // Sixty pages refer to three that are empty.
            setPage(2, interior(Array(3...62)), &bytes)
            for page in 3...62 { setPage(page, interior((0..<60).map { 63 + $0 % 3 }), &bytes) }
            setPage(65, filled([]), &bytes)
        case .cellsThatOverlap:
            // Blobs of 100 bytes, which begin every five bytes.
            var page = filled([0x0D, 0, 0, 0, 40, 0, 140, 0])
            for index in 0..<40 {
                let offset = 140 + 5 * index
                page.replaceSubrange(8 + 2 * index..<10 + 2 * index, with: [UInt8(offset >> 8), UInt8(offset & 0xFF)])
                page.replaceSubrange(offset..<offset + 5, with: [103, UInt8(index + 1), 3] + varint(2 * 100 + 12))
            }
            setPage(2, page, &bytes)
        case .tableMadeOfAnEndlessQuery, .checkThatMakesAGigabyte, .fullTextOfAnEndlessView, .rowsOfManyShapes: break
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        if let companion { try Data(companion.bytes).write(to: URL(fileURLWithPath: path + companion.suffix)) }
        return (bytes.count + (companion?.bytes.count ?? 0)) / pageSize
    }

    /// Makes a table `t` with one row, whose root is page 2.
    private static func makeDatabase(_ path: String, _ hostile: Hostile) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA page_size = 512; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            let sql: String
            switch hostile {
            case .tableMadeOfAnEndlessQuery:
                sql = "CREATE TABLE u AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
            case .checkThatMakesAGigabyte: sql = "CREATE TABLE u (a CHECK (length(hex(zeroblob(400000000))) > a))"
            case .rowsOfManyShapes: sql = "CREATE TABLE u (a)"
            case .fullTextOfAnEndlessView:
                let query = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS text FROM n"
                try db.execute(sql: "CREATE VIEW v AS \(query)")
                try db.execute(sql: "CREATE VIRTUAL TABLE f USING fts5(text, content='v', content_rowid='id')")
                return
            default: return
            }
            let columns = hostile == .rowsOfManyShapes ? 600 : 1
            try db.execute(sql: "CREATE TABLE u (\((0..<columns).map { "c\($0)" }.joined(separator: ", ")))")
            if hostile == .checkThatMakesAGigabyte { try db.execute(sql: "INSERT INTO u VALUES (2)") }
            if hostile == .rowsOfManyShapes {
                for row: UInt64 in 0..<600 {
                    // Text that is no text in other columns of each row.
                    var generator = SeededGenerator(seed: row)
                    let values = (0..<columns).map { _ in
                        Int.random(in: 0..<4, using: &generator) == 0 ? "CAST(x'FF' AS TEXT)" : "\(row)"
                    }
                    try db.execute(sql: "INSERT INTO u VALUES (\(values.joined(separator: ", ")))")
                }
            }
            try db.execute(sql: "PRAGMA writable_schema = 1")
            try db.execute(sql: "UPDATE sqlite_master SET sql = ? WHERE name = 'u'", arguments: [sql])
        }
        try queue.close()
    }

    // MARK: - Pages

    private static func number(_ value: some BinaryInteger) -> [UInt8] {
        let value = UInt32(value)
        return (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 0xFF) }
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var bytes = [UInt8(value & 0x7F)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }

    private static func filled(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: pageSize - bytes.count)
    }

    private static func setPage(_ number: Int, _ page: [UInt8], _ bytes: inout [UInt8]) {
        while bytes.count < number * pageSize { bytes += filled([]) }
        bytes.replaceSubrange((number - 1) * pageSize..<number * pageSize, with: page)
    }

    /// A row whose first 39 bytes are on the page, and the others on the chain from page 3 on.
    ///
    /// - parameter record: its first bytes; by default a header for one blob.
    private static func cell(_ rowID: Int, payloadSize: Int, record: [UInt8]? = nil) -> [UInt8] {
        // The size of the header has one byte, and the type of the blob as many as it needs.
        var header = [UInt8(0)] + varint(2 * (payloadSize - 6) + 12)
        header[0] = UInt8(header.count)
        if header.count != 6 { header = [UInt8(0)] + varint(2 * (payloadSize - header.count) + 12) }
        header[0] = UInt8(header.count)
        let local = (record ?? header)
        // https://www.sqlite.org/fileformat2.html#cell_payload
        let size = 39 + (payloadSize - 39) % (pageSize - 4)
        let count = size <= 477 ? size : 39
        return varint(payloadSize) + varint(rowID) + local + [UInt8](repeating: 0, count: count - local.count)
            + number(3)
    }

    private static func leaf(_ cells: [[UInt8]]) -> [UInt8] {
        var page = filled([])
        var end = pageSize
        for (index, cell) in cells.enumerated() {
            end -= cell.count
            page.replaceSubrange(end..<end + cell.count, with: cell)
            page.replaceSubrange(8 + 2 * index..<10 + 2 * index, with: [UInt8(end >> 8), UInt8(end & 0xFF)])
        }
        page.replaceSubrange(0..<8, with: [0x0D, 0, 0, 0, UInt8(cells.count), UInt8(end >> 8), UInt8(end & 0xFF), 0])
        return page
    }

    private static func interior(_ children: [Int]) -> [UInt8] {
        var page = filled([])
        for (index, child) in children.dropLast().enumerated() {
            let offset = 512 - 5 * (index + 1)
            page.replaceSubrange(offset..<offset + 5, with: number(child) + [UInt8(index + 1)])
            page.replaceSubrange(12 + 2 * index..<14 + 2 * index, with: [UInt8(offset >> 8), UInt8(offset & 0xFF)])
        }
        let end = 512 - 5 * (children.count - 1)
        page.replaceSubrange(
            0..<12,
            with: [0x05, 0, 0, 0, UInt8(children.count - 1), UInt8(end >> 8), UInt8(end & 0xFF), 0]
                + number(children.last ?? 0))
        return page
    }

    /// Appends a chain of overflow pages.
    ///
    /// - parameter end: the page to which the last one refers.
    private static func appendChain(end: Int, _ bytes: inout [UInt8]) {
        for page in 0..<overflowCount { bytes += filled(number(page + 1 < overflowCount ? page + 4 : end)) }
    }

    /// A write-ahead log: <https://www.sqlite.org/fileformat2.html#walformat>.
    private struct Log {
        private(set) var bytes: [UInt8]
        private var sums: (UInt32, UInt32) = (0, 0)

        init() {
            bytes = number(0x377F_0683) + number(3_007_000) + number(pageSize) + number(0) + number(1) + number(2)
            add(bytes[...])
            bytes += number(sums.0) + number(sums.1)
        }

        mutating func append(page: UInt32, commitSize: UInt32, _ content: [UInt8]) {
            let header = number(page) + number(commitSize)
            add(header[...])
            add(content[...])
            bytes += header + number(1) + number(2) + number(sums.0) + number(sums.1) + content
        }

        private mutating func add(_ bytes: ArraySlice<UInt8>) {
            let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { index in
                bytes[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in stride(from: 0, to: words.count, by: 2) {
                sums.0 = sums.0 &+ words[index] &+ sums.1
                sums.1 = sums.1 &+ words[index + 1] &+ sums.0
            }
        }
    }
}
