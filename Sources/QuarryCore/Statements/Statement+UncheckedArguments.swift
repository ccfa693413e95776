extension Statement {
    /// Sets arguments without checking them: parameters without an argument are NULL, and arguments without a parameter
    /// are ignored.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO player (name, score) VALUES (?, ?)")
    /// statement.setUncheckedArguments(["Arthur"]) // the score is NULL
    /// try statement.execute()
    /// ```
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        var position = 0
        var place = -1
        let values = parameterNames.map { name in
            if let name, let value = arguments.namedValue(name, after: &place) { return value }
            defer { position += 1 }
            return position < arguments.values.count ? arguments.values[position] : .null
        }
        bound.give(arguments, values: values)
    }
}
