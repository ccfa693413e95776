import QuarryCore

extension DecodingSession {
    /// The error of a value that has no column.
    func columnNotFound(_ key: any CodingKey) -> any Error {
        guard let row = current?.takeUnretainedValue() else { return DecoderHasEnded() }
        let name = key.stringValue
        return row.decodingError(
            "column not found: \(String(reflecting: name))\(path(key))\(similarColumn(name, row) ?? "")")
    }

    /// A column whose name differs from a key only by its spelling, and the cure.
    private func similarColumn(_ key: String, _ row: Row) -> String? {
        func letters(_ name: String) -> String { name.lowercased().replacing("_", with: "") }
        let wanted = letters(key)
        guard let column = row.names.first(where: { letters($0) == wanted }) else { return nil }
        let strategy = type.databaseColumnDecodingStrategy
        let found = ": there is \(String(reflecting: column)), so "
        if case .useDefaultKeys = strategy, column.convertedFromSnakeCase == key {
            return found + "set databaseColumnDecodingStrategy = .convertFromSnakeCase"
        }
        return found + "write `case \(key) = \(String(reflecting: strategy.key(forColumn: column)))` in CodingKeys"
    }

    /// The error of a key without a column, a scope or a list, which could be any of them.
    ///
    /// - parameter isList: whether the value is a list.
    func keyNotFound(_ key: any CodingKey, isList: Bool = false) -> any Error {
        guard let row = current?.takeUnretainedValue() else { return DecoderHasEnded() }
        let name = String(reflecting: key.stringValue)
        let cure =
            neighbours(isList: isList, row).map { "\($0): rename the property, or use forKey(\(name))" }
            ?? (isList
                ? ": request a list of records with including(all:)"
                : ": request an associated record with including(required:) or including(optional:)")
        return DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "no column, scope or list \(name)\(path(key))\(cure)",
                underlyingError: row.decodingError("decoding \(type)")))
    }

    /// The scopes or lists of a row; nil if it has none.
    private func neighbours(isList: Bool, _ row: Row) -> String? {
        let names = isList ? row.prefetchedRows.keys : row.scopesTree.names
        guard !names.isEmpty else { return nil }
        let kind = (isList ? "list" : "scope") + (names.count == 1 ? "" : "s")
        return "; the row has the \(kind) \(names.sorted().joined(separator: ", "))"
    }

    /// The error of a row that was decoded as the value of a key without a scope.
    func failure(_ error: any Error, ofRowReplacing key: any CodingKey) -> any Error {
        guard error.isOfRow else { return columnNotFound(key) }
        guard let error = error as? RowDecodingError, let row = current?.takeUnretainedValue(),
            let scopes = neighbours(isList: false, row)
        else { return error }
        let name = String(reflecting: key.stringValue)
        return error.adding(
            hint: " - \(name) isn't a scope\(scopes): rename the property, or use forKey(\(name))")
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
            reason = context.debugDescription
            if case .dataCorrupted = error {
                if reason.hasPrefix("The given data was not valid JSON") {
                    reason = "the value is not JSON"
                } else if inner.isEmpty, let problem = RowDecodingError.rawValueProblem(type) {
                    reason = problem
                } else if !row.showsValues {
                    reason = "the data is not valid"
                }
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
