extension StatementArguments {
    /// Positional arguments.
    ///
    /// ```swift
    /// let arguments = StatementArguments([1, 2, 3])
    /// try db.execute(sql: "DELETE FROM player WHERE id IN (?, ?, ?)", arguments: arguments)
    /// ```
    public init<S: Sequence>(_ sequence: S) where S.Element: DatabaseValueConvertible {
        self.init(values: sequence.map(\.databaseValue))
    }

    /// Positional arguments; nil is NULL.
    public init<S: Sequence>(_ sequence: S) where S.Element == (any DatabaseValueConvertible)? {
        self.init(values: sequence.map { $0?.databaseValue ?? .null })
    }

    /// Named arguments, without the prefix of their parameters; nil is NULL.
    ///
    /// ```swift
    /// let values: [String: (any DatabaseValueConvertible)?] = ["name": "Arthur", "score": nil]
    /// try db.execute(
    ///     sql: "INSERT INTO player (name, score) VALUES (:name, :score)", arguments: StatementArguments(values))
    /// ```
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        values = []
        namedValues = dictionary.mapValues { $0?.databaseValue ?? .null }
    }

    /// Named arguments, without the prefix of their parameters. If a name occurs twice, the last value counts.
    public init<S: Sequence>(_ sequence: S) where S.Element == (String, (any DatabaseValueConvertible)?) {
        values = []
        namedValues = Dictionary(
            sequence.lazy.map { ($0.0, $0.1?.databaseValue ?? .null) }, uniquingKeysWith: { _, last in last })
    }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Positional arguments: `["Arthur", 1000, nil]`.
    @inlinable
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        // Inlinable, so that the elements stay on the stack.
        self = elements.withUnsafeBufferPointer { StatementArguments(elements: $0) }
    }

    @usableFromInline
    init(elements: UnsafeBufferPointer<(any DatabaseValueConvertible)?>) {
        let layout = ArgumentLayout.current
        values = []
        guard let first = elements.baseAddress else { return }
        if elements.count == 1 {
            // A single argument is mostly a key.
            values = [layout.value(of: first)]
            return
        }
        values.reserveCapacity(elements.count)
        for index in elements.indices { values.append(layout.value(of: first + index)) }
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Named arguments: `["name": "Arthur", "score": 1000]`. If a name occurs twice, the last value counts.
    @inlinable
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        // Inlinable, so that the elements stay on the stack.
        self = elements.withUnsafeBufferPointer { StatementArguments(namedElements: $0) }
    }

    @usableFromInline
    init(namedElements elements: UnsafeBufferPointer<(String, (any DatabaseValueConvertible)?)>) {
        self.init()
        guard let first = elements.baseAddress else { return }
        let layout = ArgumentLayout.current
        var names: [String] = []
        var values: [DatabaseValue] = []
        names.reserveCapacity(elements.count)
        values.reserveCapacity(elements.count)
        for index in elements.indices {
            // The elements of a tuple follow each other in memory. Copying the tuple would copy the existential.
            let name = UnsafeRawPointer(first + index).assumingMemoryBound(to: String.self)
            let value = UnsafeRawPointer(name + 1).assumingMemoryBound(to: (any DatabaseValueConvertible)?.self)
            names.append(name.pointee)
            values.append(layout.value(of: value))
        }
        if NamedArguments.areUnique(names) {
            named = NamedArguments(names: names, values: values, conflict: nil)
        } else {
            namedValues = Dictionary(zip(names, values), uniquingKeysWith: { _, last in last })
        }
    }
}
