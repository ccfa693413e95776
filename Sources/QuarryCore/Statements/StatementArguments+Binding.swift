/// The position in the arguments of several statements: each statement takes its positional arguments from the front.
struct ArgumentCursor {
    let arguments: StatementArguments
    private(set) var position = 0

    init(_ arguments: StatementArguments) {
        self.arguments = arguments
    }

    /// The values of the parameters of a statement.
    mutating func values(for statement: Statement) throws(DatabaseError) -> [DatabaseValue] {
        let count = statement.parameterCount
        // The usual case: all positional.
        if arguments.isPositional, position == 0, arguments.values.count == count {
            position = count
            return arguments.values
        }
        if position == 0, let values = arguments.values(inOrderOf: statement.parameterNames, parameterCount: count) {
            return values
        }
        if let conflict = arguments.conflict {
            throw .misuse("already defined statement argument: \(conflict)", sql: statement.sql)
        }
        var values: [DatabaseValue] = []
        values.reserveCapacity(count)
        var place = -1
        for (index, name) in statement.parameterNames.enumerated() {
            if let name, let value = arguments.namedValue(name, after: &place) {
                values.append(value)
            } else if position < arguments.values.count {
                values.append(arguments.values[position])
                position += 1
            } else if let name {
                throw .misuse("missing statement argument: \(name)", sql: statement.sql)
            } else {
                let missing = statement.parameterNames[index...].count { name in
                    name.map { arguments.namedValue($0, after: &place) == nil } ?? true
                }
                throw wrongNumber(expected: position + missing, statement.sql)
            }
        }
        return values
    }

    /// Throws if positional arguments are left over.
    func finish(sql: String) throws(DatabaseError) {
        if position < arguments.values.count { throw wrongNumber(expected: position, sql) }
    }

    private func wrongNumber(expected: Int, _ sql: String) -> DatabaseError {
        .misuse("wrong number of statement arguments: \(arguments.values.count)", sql: sql)
            .with(circumstances: " given, \(expected) expected")
    }
}
