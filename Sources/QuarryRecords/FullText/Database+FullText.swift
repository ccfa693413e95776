public import QuarryCore
public import QuarrySQL

extension Database {
    /// Makes a tokenizer.
    ///
    /// ```swift
    /// let tokenizer = try db.makeTokenizer(.porter(wrapping: .unicode61()))
    /// let tokens = try tokenizer.tokenize(query: "running dogs").map(\.token) // run, dog
    /// ```
    ///
    /// A tokenizer is used on one thread at a time; wrapper tokenizers need one.
    ///
    /// - parameter descriptor: the tokenizer, and its options.
    /// - throws: `DatabaseError`: "no such tokenizer: klingon"; the error of the tokenizer's initializer.
    public func makeTokenizer(_ descriptor: FTS5TokenizerDescriptor) throws -> any FTS5Tokenizer {
        try makeTokenizer(components: descriptor.components)
    }

    /// A pattern that an FTS5 table accepts.
    ///
    /// ```swift
    /// let pattern = try db.makeFTS5Pattern(rawPattern: "title : sqlite", forTable: "document")
    /// ```
    ///
    /// - parameter rawPattern: <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
    /// - parameter table: the full-text table whose columns and tokenizer the pattern uses.
    /// - throws: `DatabaseError` for an invalid pattern: "no such column: titel"; "no such table: document".
    public func makeFTS5Pattern(rawPattern: String, forTable table: String) throws -> FTS5Pattern {
        try checkAccess()
        try FullTextScratch.check(rawPattern)
        let name = table.quotedDatabaseIdentifier
        try FullTextScratch.look(for: rawPattern, "SELECT rowid FROM \(name) WHERE \(name) MATCH ?", self)
        return FTS5Pattern(unchecked: rawPattern)
    }

    /// Drops the triggers that keep an FTS4 table up to date. Drop them before the table.
    ///
    /// ```swift
    /// try db.dropFTS4SynchronizationTriggers(forTable: "book_ft")
    /// try db.drop(table: "book_ft")
    /// ```
    /// ```sql
    /// DROP TRIGGER IF EXISTS "__book_ft_bu"
    /// DROP TRIGGER IF EXISTS "__book_ft_bd"
    /// DROP TRIGGER IF EXISTS "__book_ft_au"
    /// DROP TRIGGER IF EXISTS "__book_ft_ai"
    /// ```
    ///
    /// - parameter tableName: the full-text table.
    /// - parameter schemaName: `main`, or the name of an attached database; nil for the first schema with the triggers.
    /// - throws: `DatabaseError`.
    public func dropFTS4SynchronizationTriggers(forTable tableName: String, in schemaName: String? = nil) throws {
        for sql in FullTextTriggers.droppingFTS4(tableName, in: schemaName) { try execute(sql: sql) }
    }

    /// Drops the triggers that keep an FTS5 table up to date. Drop them before the table.
    ///
    /// ```swift
    /// try db.dropFTS5SynchronizationTriggers(forTable: "book_ft")
    /// try db.drop(table: "book_ft")
    /// ```
    /// ```sql
    /// DROP TRIGGER IF EXISTS "__book_ft_ai"
    /// DROP TRIGGER IF EXISTS "__book_ft_ad"
    /// DROP TRIGGER IF EXISTS "__book_ft_au"
    /// ```
    ///
    /// - parameter tableName: the full-text table.
    /// - parameter schemaName: `main`, or the name of an attached database; nil for the first schema with the triggers.
    /// - throws: `DatabaseError`.
    public func dropFTS5SynchronizationTriggers(forTable tableName: String, in schemaName: String? = nil) throws {
        for sql in FullTextTriggers.droppingFTS5(tableName, in: schemaName) { try execute(sql: sql) }
    }
}

extension FTS3 {
    /// The tokens of a text.
    ///
    /// ```swift
    /// try FTS3.tokenize("SQLite database")                                    // ["sqlite", "database"]
    /// try FTS3.tokenize("Gustave Doré", withTokenizer: .unicode61())          // ["gustave", "dore"]
    /// try FTS3.tokenize("running dogs", withTokenizer: .porter)               // ["run", "dog"]
    /// ```
    ///
    /// A NUL ends a text, as in full-text tables of this kind. Some tokenizers of SQLite cut a text inside a character:
    /// U+FFFD replaces invalid UTF-8 in such a token.
    ///
    /// - parameter string: the text.
    /// - parameter tokenizer: the tokenizer.
    /// - throws: `DatabaseError`, for example if SQLite lacks the tokenizer.
    public static func tokenize(
        _ string: String, withTokenizer tokenizer: FTS3TokenizerDescriptor = .simple
    ) throws -> [String] {
        let text = String(string.unicodeScalars.prefix { $0 != "\0" })
        return try FullTextScratch.with { db in
            let arguments = ([tokenizer.name] + tokenizer.arguments).map(\.quotedDatabaseIdentifier)
            try db.execute(
                sql: "CREATE VIRTUAL TABLE tokens USING fts3tokenize(\(arguments.joined(separator: ", ")))")
            let tokens = Result {
                try [UInt8].fetchAll(
                    db, sql: "SELECT CAST(token AS BLOB) FROM tokens WHERE input = ?", arguments: [text])
            }
            try db.execute(sql: "DROP TABLE tokens")
            return try tokens.get().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
