extension Statement {
    /// Runs to the end with integers as positional arguments.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO score (playerId, points) VALUES (?, ?)")
    /// try statement.execute(arguments: [playerId, 10])
    /// ```
    ///
    /// It does what `execute(arguments:)` does with `StatementArguments`, in less time: the integers are bound from
    /// the array.
    ///
    /// - parameter arguments: one for each parameter.
    /// - throws: `DatabaseError`; `CancellationError` in a task that is cancelled.
    @inlinable
    public func execute<Value: SQLInteger>(arguments: [Value]) throws {
        guard Value.isSigned, MemoryLayout<Value>.size == MemoryLayout<Int64>.size else {
            return try execute(arguments: StatementArguments(arguments))
        }
        try arguments.withUnsafeBytes { try execute(integers: $0.assumingMemoryBound(to: Int64.self)) }
    }

    /// Runs to the end with integers as named arguments.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO score (playerId, points) VALUES (:player, :points)")
    /// try statement.execute(arguments: ["player": playerId, "points": 10])
    /// ```
    ///
    /// It does what `execute(arguments:)` does with `StatementArguments`, in less time where the names come in the
    /// order of the parameters.
    ///
    /// - parameter arguments: the names without the prefix of their parameters. The last of a name counts.
    /// - throws: `DatabaseError`; `CancellationError` in a task that is cancelled.
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

    /// Runs to the end, if the names are those of the parameters, in their order.
    ///
    /// - returns: whether it has run.
    @usableFromInline
    func execute(integers: UnsafeBufferPointer<NamedInteger>) throws -> Bool {
        if bound.integers.names == nil { bound.integers.takeNames(parameterNames) }
        guard integers.count == bound.integers.distinctNameCount, let names = bound.integers.names else {
            return false
        }
        // Most names are literals of a few letters, which lie in the `String` itself.
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

/// What a pair of a `String` and an integer of 64 bits is in memory.
@usableFromInline
struct NamedInteger {
    /// The bits of the `String`.
    let name: (UInt64, UInt64)
    let value: Int64
}

/// The arguments of a statement that are integers alone, in the order of the parameters.
struct IntegerArguments {
    /// What the statement's property of that name says.
    private(set) var distinctNameCount = -1

    /// The bits of the names of the parameters, whose storage the statement keeps: equal bits mean an equal name.
    private(set) var names: UnsafeMutableBufferPointer<(UInt64, UInt64)>?

    /// Room for one integer for each parameter.
    private var integers: UnsafeMutableBufferPointer<Int64>?

    /// Room for the arguments of an execution.
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
        let names = UnsafeMutableBufferPointer<(UInt64, UInt64)>.allocate(capacity: isDistinct ? known.count : 0)
        _ = names.initialize(from: known.prefix(names.count).map { unsafeBitCast($0, to: (UInt64, UInt64).self) })
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
