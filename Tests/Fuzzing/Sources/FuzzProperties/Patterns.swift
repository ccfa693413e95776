import Quarry
import QuarryCJKTokenizer

/// A text that is stored, and looked for: patterns of its words are accepted and find it, others are accepted as they
/// are or refused, and the index stays whole.
enum Patterns {
    private static let queue = Result { () throws -> DatabaseQueue in
        var configuration = Configuration()
        configuration.prepareDatabase { db in db.add(tokenizer: FTS5CJKTokenizer.self) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            for (name, tokenizer) in [("cjk", FTS5TokenizerDescriptor.cjk()), ("words", .unicode61())] {
                try db.create(virtualTable: name, using: FTS5()) { t in
                    t.tokenizer = tokenizer
                    t.column("a")
                }
            }
            try db.create(virtualTable: "old", using: FTS4()) { t in t.column("a") }
        }
        return queue
    }

    static func check(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        try queue.get().writeWithoutTransaction { db in
            try db.inTransaction {
                try check(db, "cjk", .cjk(), text, bytes)
                try check(db, "words", .unicode61(), text, bytes)
                try checkWords(db, text)
                return .rollback
            }
        }
    }

    private static func check(
        _ db: Database, _ name: String, _ descriptor: FTS5TokenizerDescriptor, _ text: String, _ bytes: [UInt8]
    ) throws {
        // As it is, which may be no UTF-8, and as Swift reads it.
        try db.execute(sql: "INSERT INTO \(name)(rowid, a) VALUES (1, CAST(? AS TEXT))", arguments: [bytes])
        try db.execute(sql: "INSERT INTO \(name)(rowid, a) VALUES (2, ?)", arguments: [text])
        try db.execute(sql: "INSERT INTO \(name)(\(name)) VALUES ('integrity-check')")
        let tokenizer = try db.makeTokenizer(descriptor)
        let patterns = [
            try FTS5Pattern(matchingAnyTokenIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingAllTokensIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingAllPrefixesIn: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingPhrase: text, tokenizer: tokenizer),
            try FTS5Pattern(matchingPrefixPhrase: text, tokenizer: tokenizer),
        ]
        for pattern in patterns {
            guard let pattern else { continue }
            let highlight = FTS5.highlight(Column("a"), of: name, open: "", close: "")
            let found = try Table(name).matching(pattern).filter(Column.rowID == 2)
                .select(highlight, as: String.self).fetchAll(db)
            try expectEqual(found.count, 1, "what \(pattern.rawPattern) finds in \(name)", bytes)
            // FTS5 shows a text up to its NUL.
            if !text.contains("\0") { try expectEqual(found[0], text, "the text that is shown", bytes) }
        }
        do {
            let pattern = try db.makeFTS5Pattern(rawPattern: text, forTable: name)
            try expectEqual(pattern.rawPattern, text, "a raw pattern", bytes)
            _ = try Table(name).matching(pattern).fetchCount(db)
        } catch is DatabaseError {
            // Refused.
        }
        try db.execute(sql: "DELETE FROM \(name) WHERE rowid = 1")
        try db.execute(sql: "INSERT INTO \(name)(\(name)) VALUES ('integrity-check')")
    }

    private static func checkWords(_ db: Database, _ text: String) throws {
        let old = [
            FTS3Pattern(matchingAnyTokenIn: text), FTS3Pattern(matchingAllTokensIn: text),
            FTS3Pattern(matchingAllPrefixesIn: text), FTS3Pattern(matchingPhrase: text),
        ]
        for pattern in old { _ = try Table("old").matching(pattern).fetchCount(db) }
        let new = [
            FTS5Pattern(matchingAnyTokenIn: text), FTS5Pattern(matchingAllTokensIn: text),
            FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPhrase: text),
            FTS5Pattern(matchingPrefixPhrase: text),
        ]
        for pattern in new { _ = try Table("words").matching(pattern).fetchCount(db) }
    }
}
