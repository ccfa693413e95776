extension Statement {
    /// Runs the statement to the end with integers as positional arguments.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO score (playerId, points) VALUES (?, ?)")
    /// try statement.execute(arguments: [playerId, 10])
    /// ```
    ///
    /// Does the same as `execute(arguments:)` with `StatementArguments`, but faster: the integers are bound directly
    /// from the array.
    ///
    /// - parameter arguments: one integer for each parameter.
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    @inlinable
    public func execute<Value: SQLInteger>(arguments: [Value]) throws {
        guard Value.isSigned, MemoryLayout<Value>.size == MemoryLayout<Int64>.size else {
            return try execute(arguments: StatementArguments(arguments))
        }
        try arguments.withUnsafeBytes { try execute(integers: $0.assumingMemoryBound(to: Int64.self)) }
    }

    /// Runs the statement to the end with integers as named arguments.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO score (playerId, points) VALUES (:player, :points)")
    /// try statement.execute(arguments: ["player": playerId, "points": 10])
    /// ```
    ///
    /// Does the same as `execute(arguments:)` with `StatementArguments`, but faster if the names are in the order of
    /// the parameters.
    ///
    /// - parameter arguments: the names, without the prefix of the parameters. If a name occurs twice, the last value
    ///   counts.
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    @inlinable
    public func execute<Value: SQLInteger>(arguments: KeyValuePairs<String, Value>) throws {
        guard Value.isSigned, MemoryLayout<Value>.size == MemoryLayout<Int64>.size, #available(macOS 26, *) else {
            return try execute(arguments: StatementArguments(pairs: arguments))
        }
        let hasRun = try arguments.span.withUnsafeBufferPointer { pairs in
            try UnsafeRawBufferPointer(pairs).withMemoryRebound(to: NamedInteger.self) { try execute(integers: $0) }
        }
        if !hasRun { try execute(arguments: StatementArguments(pairs: arguments)) }
    }

    @usableFromInline
    func execute(integers: UnsafeBufferPointer<Int64>) throws {
        guard integers.count == parameterCount else { return try execute(arguments: StatementArguments(integers)) }
        try execute(named: false, integers.count) { integers[$0] }
    }

    /// Runs the statement to the end, if the names are those of the parameters, in their order.
    ///
    /// - returns: whether the statement has run.
    @usableFromInline
    func execute(integers: UnsafeBufferPointer<NamedInteger>) throws -> Bool {
        if bound.integers.names == nil { bound.integers.takeNames(parameterNames) }
        guard integers.count == bound.integers.distinctNameCount, let names = bound.integers.names,
            NamedInteger.isLayoutOfPairs
        else { return false }
        // Most names are short literals, whose characters the `String` itself holds.
        for index in 0..<integers.count where integers[index].name != names[index] {
            guard hasName(of: integers, index) else { return false }
        }
        try execute(named: true, integers.count) { integers[$0].value }
        return true
    }

    @inline(never)
    private func hasName(of integers: UnsafeBufferPointer<NamedInteger>, _ index: Int) -> Bool {
        let name = UnsafeRawPointer(integers.baseAddress.unsafelyUnwrapped + index).load(as: String.self)
        return parameterNames[index].map { SQLKey.isSameText($0, name) } ?? false
    }

    @inline(__always)
    private func execute(named: Bool, _ count: Int, _ integer: (Int) -> Int64) throws {
        let database = try startExecution(.call)
        let kept = bound.giveIntegers(named: named, count: count)
        for index in 0..<count {
            kept[index] = integer(index)
            let code = StatementBindings.bind(
                kept[index], to: sqliteStatement, at: CInt(truncatingIfNeeded: index &+ 1))
            if code != 0 {
                for rest in index..<count { kept[rest] = integer(rest) }
                stopExecution(database)
                throw bindingError(code, integer(index).databaseValue, index)
            }
        }
        bound.didBind()
        try run(database)
    }
}

/// The arguments of a statement, if all of them are integers, in the order of the parameters.
struct IntegerArguments {
    /// The number of parameters, if each has a name of its own; -1 otherwise.
    private(set) var distinctNameCount = -1

    /// The bits of the parameters' names, whose storage the statement keeps.
    private(set) var names: UnsafeMutableBufferPointer<StringBits>?

    /// Storage for one integer per parameter.
    private var integers: UnsafeMutableBufferPointer<Int64>?

    /// Storage for the arguments of an execution.
    @inline(__always)
    mutating func makeRoom(_ count: Int) -> UnsafeMutableBufferPointer<Int64> {
        let integers = self.integers ?? .allocate(capacity: count)
        self.integers = integers
        return integers
    }

    mutating func takeNames(_ parameterNames: [String?]) {
        let known = parameterNames.compactMap { $0 }
        let isDistinct = known.count == parameterNames.count && Set(known).count == known.count
        distinctNameCount = isDistinct ? known.count : -1
        let names = UnsafeMutableBufferPointer<StringBits>.allocate(capacity: isDistinct ? known.count : 0)
        _ = names.initialize(from: known.prefix(names.count).map { StringBits($0) })
        self.names = names
    }

    func deallocate() {
        integers?.deallocate()
        names?.deallocate()
    }

    func arguments(of statement: Statement, named: Bool) -> StatementArguments {
        let values = integers.map { Array($0) } ?? []
        guard named else { return StatementArguments(values) }
        let names = statement.parameterNames.map { $0 ?? "" }
        return StatementArguments(zip(names, values).map { ($0, $1 as (any DatabaseValueConvertible)?) })
    }
}

extension StatementArguments {
    @usableFromInline
    init<Value: SQLInteger>(pairs: KeyValuePairs<String, Value>) {
        self.init(pairs.lazy.map { ($0.key, $0.value as (any DatabaseValueConvertible)?) })
    }
}
