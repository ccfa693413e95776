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
        try arguments.withUnsafeBytes { try execute(integers: $0.assumingMemoryBound(to: Int64.self), areNamed: false) }
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
        guard Value.isSigned, MemoryLayout<Value>.size == MemoryLayout<Int64>.size,
            arguments.count == distinctNameCount
        else {
            return try execute(arguments: StatementArguments(pairs: arguments))
        }
        let hasRun = try withUnsafeTemporaryAllocation(of: Int64.self, capacity: arguments.count) { integers in
            var index = 0
            for (name, value) in arguments {
                guard isParameter(index, named: name) else { return false }
                integers[index] = Int64(truncatingIfNeeded: value)
                index &+= 1
            }
            try execute(integers: UnsafeBufferPointer(integers), areNamed: true)
            return true
        }
        if !hasRun { try execute(arguments: StatementArguments(pairs: arguments)) }
    }

    /// The number of parameters, if all have names, and all names differ; otherwise -1.
    @usableFromInline
    var distinctNameCount: Int {
        if integerArguments.names == nil { integerArguments.takeNames(parameterNames) }
        return integerArguments.distinctNameCount
    }

    /// Whether a parameter has a name, where all have different ones.
    @usableFromInline
    func isParameter(_ index: Int, named name: String) -> Bool {
        // Most names are literals of a few letters, which lie in the `String` itself.
        integerArguments.isName(index, unsafeBitCast(name, to: (UInt64, UInt64).self)) || hasName(name, index)
    }

    @inline(never)
    private func hasName(_ name: String, _ index: Int) -> Bool {
        parameterNames[index].map { SQLKey.isSameText($0, name) } ?? false
    }

    @usableFromInline
    func execute(integers: UnsafeBufferPointer<Int64>, areNamed: Bool) throws {
        guard integers.count == parameterCount else { return try execute(arguments: StatementArguments(integers)) }
        let database = try startExecution(isTracked: false)
        integerArguments.keep(integers, areNamed ? .named : .positional)
        boundValues = nil
        isBound = false
        for index in integers.indices {
            let code = StatementBindings.bind(integers[index], to: sqliteStatement, at: CInt(index + 1))
            if code != 0 {
                stopExecution(database)
                throw bindingError(code, integers[index].databaseValue, index)
            }
        }
        isBound = true
        try run(database)
    }
}

/// The arguments of a statement that are integers alone, in the order of the parameters.
struct IntegerArguments {
    enum Kind {
        case none, positional, named
    }

    var kind = Kind.none

    /// What the statement's property of that name says.
    private(set) var distinctNameCount = -1

    /// The bits of the names of the parameters, whose storage the statement keeps: equal bits mean an equal name.
    private(set) var names: UnsafeMutableBufferPointer<(UInt64, UInt64)>?

    /// Room for one integer for each parameter.
    private var integers: UnsafeMutableBufferPointer<Int64>?

    mutating func keep(_ values: UnsafeBufferPointer<Int64>, _ kind: Kind) {
        self.kind = kind
        let integers = self.integers ?? .allocate(capacity: values.count)
        self.integers = integers
        // Few: a call would cost more.
        for index in values.indices { integers[index] = values[index] }
    }

    mutating func takeNames(_ parameterNames: [String?]) {
        let known = parameterNames.compactMap { $0 }
        let isDistinct = known.count == parameterNames.count && Set(known).count == known.count
        distinctNameCount = isDistinct ? known.count : -1
        let names = UnsafeMutableBufferPointer<(UInt64, UInt64)>.allocate(capacity: isDistinct ? known.count : 0)
        _ = names.initialize(from: known.prefix(names.count).map { unsafeBitCast($0, to: (UInt64, UInt64).self) })
        self.names = names
    }

    @inline(__always)
    func isName(_ index: Int, _ bits: (UInt64, UInt64)) -> Bool {
        guard let names, index < names.count else { return false }
        return names[index] == bits
    }

    func deallocate() {
        integers?.deallocate()
        names?.deallocate()
    }

    func arguments(of statement: Statement) -> StatementArguments {
        let values = integers.map { Array($0) } ?? []
        guard kind == .named else { return StatementArguments(values) }
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
