public import QuarryCore
public import QuarrySQL

// Patterns that are written by hand, and stored patterns.

extension FTS3Pattern: DatabaseValueConvertible {
    /// A pattern that SQLite accepts.
    ///
    /// ```swift
    /// let pattern = try FTS3Pattern(rawPattern: "sqlite AND database")
    /// try FTS3Pattern(rawPattern: "AND") // malformed MATCH expression: [AND]
    /// ```
    ///
    /// - parameter rawPattern: <https://www.sqlite.org/fts3.html#full_text_index_queries>.
    /// - throws: `DatabaseError` for an invalid pattern.
    public init(rawPattern: String) throws {
        try FullTextScratch.check(rawPattern)
        try FullTextScratch.with { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE IF NOT EXISTS fts4 USING fts4(content)")
            try FullTextScratch.look(for: rawPattern, "SELECT docid FROM fts4 WHERE fts4 MATCH ?", db)
        }
        self.init(unchecked: rawPattern)
    }

    /// The raw pattern.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// The pattern, if SQLite accepts it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS3Pattern? {
        guard case .string(let text) = dbValue.storage else { return nil }
        return try? FTS3Pattern(rawPattern: text)
    }
}

extension FTS5Pattern: DatabaseValueConvertible {
    /// A pattern that SQLite accepts.
    ///
    /// ```swift
    /// let pattern = try FTS5Pattern(rawPattern: "sqlite AND title : database", allowedColumns: ["title"])
    /// try FTS5Pattern(rawPattern: "AND") // fts5: syntax error near "AND"
    /// ```
    ///
    /// - parameter rawPattern: <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
    /// - parameter allowedColumns: the columns that the pattern may name.
    /// - throws: `DatabaseError` for an invalid pattern, or one that names other columns.
    public init(rawPattern: String, allowedColumns: [String] = []) throws {
        try FullTextScratch.check(rawPattern)
        try FullTextScratch.with { db in
            // A column name that no pattern contains by chance.
            let columns = allowedColumns.isEmpty ? ["\u{1}"] : allowedColumns
            let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            try db.execute(sql: "CREATE VIRTUAL TABLE fts5 USING fts5(\(list))")
            let result = Result {
                try FullTextScratch.look(for: rawPattern, "SELECT rowid FROM fts5 WHERE fts5 MATCH ?", db)
            }
            try db.execute(sql: "DROP TABLE fts5")
            try result.get()
        }
        self.init(unchecked: rawPattern)
    }

    /// The raw pattern.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// The pattern, if SQLite accepts it and it names no column.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS5Pattern? {
        guard case .string(let text) = dbValue.storage else { return nil }
        return try? FTS5Pattern(rawPattern: text)
    }
}
