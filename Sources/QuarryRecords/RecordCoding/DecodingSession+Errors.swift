import QuarryCore

extension DecodingSession {
    /// The error of a value that has no column.
    func columnNotFound(_ key: any CodingKey) -> any Error {
        guard let current = current?.takeUnretainedValue() else { return DecoderHasEnded() }
        return current.decodingError(missing(key))
    }

    /// The error of a key without a column, a scope or a list, which could be any of them.
    func keyNotFound(_ key: any CodingKey) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: missing(key), underlyingError: columnNotFound(key)))
    }

    private func missing(_ key: any CodingKey) -> String {
        "column not found: \(String(reflecting: key.stringValue))\(path(key))"
    }

    func mismatch(
        _ type: Any.Type, _ value: DatabaseValue, _ row: Row, _ column: Int, _ key: any CodingKey
    ) -> any Error {
        row.decodingError(
            "could not decode \(type) from database value \(row.shown(value))\(path(key))", columnIndex: column)
    }

    /// An error of a nested decoder, with its place in the row.
    ///
    /// - parameter known: how many keys of the error's path lead to the column.
    func failure(
        _ error: any Error, _ type: Any.Type, _ row: Row, _ column: Int, _ key: any CodingKey, known: Int = 0
    ) -> any Error {
        if error.isOfRow { return error }
        var inner = ""
        // An error of the type's own may hold the value.
        var reason = row.showsValues ? String(describing: error) : "it threw \(Swift.type(of: error))"
        if let error = error as? DecodingError {
            let context: DecodingError.Context
            switch error {
            case .typeMismatch(_, let place), .valueNotFound(_, let place), .dataCorrupted(let place): context = place
            case .keyNotFound(let missing, let place):
                context = place
                inner = ".\(missing.stringValue)"
            @unknown default: return error
            }
            inner = context.codingPath.dropFirst(known).map { ".\($0.stringValue)" }.joined() + inner
            if case .dataCorrupted = error, !row.showsValues {
                reason = "the data is not valid"
            } else {
                reason = context.debugDescription
            }
        }
        let value = (try? row.decode(DatabaseValue.self, atIndex: column)) ?? .null
        return row.decodingError(
            "could not decode \(type) from database value \(row.shown(value))\(path(key, inner)): \(reason)",
            columnIndex: column)
    }

    private func path(_ key: any CodingKey, _ inner: String = "") -> String {
        let outer = codingPath.map { "\($0.stringValue)." }.joined()
        let table = (type as? any TableRecord.Type).map { ", table: \(String(reflecting: $0.databaseTableName))" } ?? ""
        return " for key path \(outer)\(key.stringValue)\(inner) of \(type)\(table)"
    }
}

extension Error {
    /// Whether this says already which row could not be decoded.
    var isOfRow: Bool {
        if case .keyNotFound(_, let context)? = self as? DecodingError {
            return context.underlyingError is RowDecodingError
        }
        return self is RowDecodingError
    }
}
