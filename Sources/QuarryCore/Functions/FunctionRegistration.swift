/// A function as registered with one connection. SQLite keeps it as long as the function is defined.
final class FunctionRegistration {
    let name: String
    let body: DatabaseFunction.Body
    var arguments = FunctionArguments()

    init(name: String, body: DatabaseFunction.Body) {
        self.name = name
        self.body = body
    }
}

/// A collation as registered with one connection. SQLite keeps it as long as the collation is defined.
final class CollationRegistration {
    let collation: DatabaseCollation
    private weak var database: Database?

    init(_ collation: DatabaseCollation, database: Database) {
        self.collation = collation
        self.database = database
    }

    /// Compares two texts. During the comparison nothing may be written and no transaction may end, because SQLite may
    /// be in the middle of an index that must not change.
    func compare(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Int {
        guard let database else { return collation.compare(lhs, rhs) }
        return database.sealed { collation.compare(lhs, rhs) }
    }
}

/// The arguments of a call, in an array that the calls reuse.
struct FunctionArguments {
    private var values: [DatabaseValue] = []

    /// Takes the array from its owner, until it is given back: a function may call itself through a query.
    mutating func borrow() -> FunctionArguments {
        let borrowed = self
        values = []
        return borrowed
    }

    mutating func giveBack(_ arguments: inout FunctionArguments) {
        // Long values aren't kept for the next call.
        arguments.values.removeAll(keepingCapacity: true)
        swap(&self, &arguments)
    }

    /// Reads the values that SQLite lends for the call.
    ///
    /// - throws: `SQLITE_NOMEM` if SQLite has no memory to convert a value.
    mutating func take(
        _ count: CInt, _ pointers: UnsafeMutablePointer<OpaquePointer?>?
    ) throws(DatabaseError) -> [DatabaseValue] {
        guard let pointers else { return [] }
        for index in 0..<Int(count) {
            guard let pointer = pointers[index] else {
                values.append(.null)
                continue
            }
            guard let value = ValueCalls.value(pointer) else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
            values.append(value)
        }
        return values
    }
}

/// The state of an aggregate for one group of rows.
final class AggregateRun<Family: AggregateFamily> {
    var aggregate: Family.Aggregate

    /// Whether a step has thrown; if so, the aggregate has no result.
    var hasFailed = false

    init(_ aggregate: Family.Aggregate) {
        self.aggregate = aggregate
    }
}

/// The operations by which SQLite runs aggregates with and without `inverse`.
protocol AggregateFamily {
    associatedtype Aggregate

    /// The state of an empty group.
    static func make(_ body: DatabaseFunction.Body) -> Aggregate?
    static func finalize(_ aggregate: Aggregate) throws -> (any DatabaseValueConvertible)?
}

enum PlainAggregates: AggregateFamily {
    static func make(_ body: DatabaseFunction.Body) -> (any DatabaseAggregate)? {
        guard case .aggregate(let type) = body else { return nil }
        return type.init()
    }

    static func finalize(_ aggregate: any DatabaseAggregate) throws -> (any DatabaseValueConvertible)? {
        try aggregate.finalize()
    }
}

enum WindowAggregates: AggregateFamily {
    static func make(_ body: DatabaseFunction.Body) -> (any DatabaseWindowAggregate)? {
        guard case .window(let type) = body else { return nil }
        return type.init()
    }

    static func finalize(_ aggregate: any DatabaseWindowAggregate) throws -> (any DatabaseValueConvertible)? {
        try aggregate.finalize()
    }
}
