import Quarry
import QuarryCJKTokenizer
import QuarryTestSupport
import Testing

/// As FTS5 defines tokenizers: letters are tokens, the first of a text is told in capitals.
private final class LetterTokenizer: FTS5CustomTokenizer {
    static let name = "letters"

    init(db: Database, arguments: [String]) {}

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        guard let pText else { return 0 }
        for index in 0..<nText {
            let code = tokenCallback(context, 0, pText + Int(index), 1, index, index + 1)
            if code != 0 { return code }
        }
        return 0
    }
}

/// Tokenizers and functions of connections that are used at the same time.
@Suite struct PoolTokenizerTests {
    @Test func readersHaveThem() async throws {
        var config = Configuration()
        config.maximumReaderCount = 4
        config.prepareDatabase { db in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            db.add(tokenizer: LetterTokenizer.self)
            db.add(function: FTS5Function("hits") { match in try match.instanceCount() })
        }
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: "\(folder.path)/db.sqlite", configuration: config)
        try await pool.write { db in
            try db.create(virtualTable: "cjk", using: FTS5()) { t in
                t.tokenizer = .cjk()
                t.column("a")
            }
            try db.create(virtualTable: "letters", using: FTS5()) { t in
                t.tokenizer = LetterTokenizer.tokenizerDescriptor()
                t.column("a")
            }
        }
        let failures = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for index in 1...20 {
                        try await pool.write { db in
                            try db.execute(
                                sql: "INSERT INTO cjk VALUES (?); INSERT INTO letters VALUES (?)",
                                arguments: ["東京\(task)番\(index)", "x\(task)\(index)"])
                        }
                    }
                    return 0
                }
                group.addTask {
                    var failures = 0
                    for _ in 0..<20 {
                        failures += try await pool.read { (db) throws in
                            let count = try Table("cjk").all().fetchCount(db)
                            let tokenizer = try db.makeTokenizer(.cjk())
                            let pattern = try FTS5Pattern(matchingPhrase: "京", tokenizer: tokenizer)
                            let hits = Table("cjk").matching(pattern)
                                .select(FTS5.call("hits", of: "cjk"), as: Int.self)
                            let letters = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM letters('x')") ?? -1
                            return try hits.fetchAll(db) == Array(repeating: 1, count: count) && letters == count
                                ? 0 : 1
                        }
                    }
                    return failures
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(failures == 0)
        let error = await #expect(throws: DatabaseError.self) {
            try await pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM cjk('AND')") }
        }
        #expect(error?.message == #"fts5: syntax error near "AND""#)
        try pool.close()
    }
}
