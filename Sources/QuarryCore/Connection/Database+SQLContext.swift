extension Database: SQLContext {}

extension SQL {
    /// The text, and the arguments of its parameters.
    ///
    /// - throws: `DatabaseError` if a part can't be written for this connection.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        try build(in: db)
    }
}

extension Database {
    /// The name of a collation.
    public typealias CollationName = SQLCollationName
}
