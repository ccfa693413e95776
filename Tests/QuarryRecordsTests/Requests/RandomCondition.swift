import Quarry

/// A condition that is known twice: as an expression, and as what it is for rows of Swift's.
///
/// A condition is true, false, or NULL, which is nil here: <https://www.sqlite.org/nulls.html>.
indirect enum RandomCondition {
    /// A side of a comparison.
    enum Operand {
        case column(table: Int, column: Int)
        case value(DatabaseValue)
    }

    enum Comparison: CaseIterable {
        case equal, notEqual, `is`, isNot, less, lessOrEqual, greater, greaterOrEqual
    }

    /// Bounds that Swift's ranges can have.
    enum Bounds {
        case integers(ClosedRange<Int64>)
        case numbers(ClosedRange<Double>)
        case texts(ClosedRange<String>)
        case upTo(Range<Int64>)
        case from(Double)
        case through(String)
        case below(Int64)
    }

    case constant(Bool?)
    case comparison(Operand, Comparison, Operand)
    case list([DatabaseValue], Operand)
    case range(Bounds, Operand)
    /// `x IN (SELECT "column" FROM "table")`
    case query(table: Int, column: Int, Operand)
    case not(RandomCondition)
    case and(RandomCondition, RandomCondition)
    case or(RandomCondition, RandomCondition)
}

// MARK: - As an expression

extension RandomCondition {
    /// - parameter column: the column of a table of the request.
    /// - parameter query: a request for the column of a table of the database.
    func expression(
        column: (_ table: Int, _ column: Int) -> SQLExpression,
        query: (_ table: Int, _ column: Int) -> QueryInterfaceRequest<Row>
    ) -> SQLExpression {
        func operand(_ operand: Operand) -> SQLExpression {
            switch operand {
            case .column(let table, let index): column(table, index)
            case .value(let value): value.sqlExpression
            }
        }
        func expression(_ condition: RandomCondition) -> SQLExpression {
            switch condition {
            case .constant(let value): (value?.databaseValue ?? .null).sqlExpression
            case .comparison(let lhs, let comparison, let rhs): comparison.expression(operand(lhs), operand(rhs))
            case .list(let values, let value): values.contains(operand(value))
            case .range(let bounds, let value): bounds.expression(operand(value))
            case .query(let table, let column, let value): query(table, column).contains(operand(value))
            case .not(let condition): !expression(condition)
            case .and(let lhs, let rhs): expression(lhs) && expression(rhs)
            case .or(let lhs, let rhs): expression(lhs) || expression(rhs)
            }
        }
        return expression(self)
    }
}

extension RandomCondition.Comparison {
    fileprivate func expression(_ lhs: SQLExpression, _ rhs: SQLExpression) -> SQLExpression {
        switch self {
        case .equal: lhs == rhs
        case .notEqual: lhs != rhs
        case .is: lhs === rhs
        case .isNot: lhs !== rhs
        case .less: lhs < rhs
        case .lessOrEqual: lhs <= rhs
        case .greater: lhs > rhs
        case .greaterOrEqual: lhs >= rhs
        }
    }
}

extension RandomCondition.Bounds {
    fileprivate func expression(_ value: SQLExpression) -> SQLExpression {
        switch self {
        case .integers(let range): range.contains(value)
        case .numbers(let range): range.contains(value)
        case .texts(let range): range.contains(value)
        case .upTo(let range): range.contains(value)
        case .from(let low): (low...).contains(value)
        case .through(let high): (...high).contains(value)
        case .below(let high): (..<high).contains(value)
        }
    }
}

// MARK: - As what it is

extension RandomCondition {
    /// - parameter rows: a row of each table of the request.
    /// - parameter tables: the rows of all tables of the database.
    func holds(for rows: [[DatabaseValue]], in tables: [[[DatabaseValue]]]) -> Bool? {
        switch self {
        case .constant(let value):
            return value
        case .comparison(let lhs, let comparison, let rhs):
            // Beside a NULL that is written as such, equality is identity.
            let isIdentity = lhs.isWrittenNull || rhs.isWrittenNull
            return comparison.holds(lhs.value(rows), rhs.value(rows), isIdentity: isIdentity)
        case .list(let values, let value):
            // A list of one is that one.
            if values.count == 1 {
                let isIdentity = values[0].isNull || value.isWrittenNull
                return Comparison.equal.holds(value.value(rows), values[0], isIdentity: isIdentity)
            }
            return Self.isElement(value.value(rows), of: values)
        case .range(let bounds, let value):
            return bounds.contain(value.value(rows))
        case .query(let table, let column, let value):
            return Self.isElement(value.value(rows), of: tables[table].map { $0[column] })
        case .not(let condition):
            return condition.holds(for: rows, in: tables).map { !$0 }
        case .and(let lhs, let rhs):
            return Self.and(lhs.holds(for: rows, in: tables), rhs.holds(for: rows, in: tables))
        case .or(let lhs, let rhs):
            return Self.or(lhs.holds(for: rows, in: tables), rhs.holds(for: rows, in: tables))
        }
    }

    fileprivate static func and(_ lhs: Bool?, _ rhs: Bool?) -> Bool? {
        if lhs == false || rhs == false { return false }
        return lhs == nil || rhs == nil ? nil : true
    }

    private static func or(_ lhs: Bool?, _ rhs: Bool?) -> Bool? {
        if lhs == true || rhs == true { return true }
        return lhs == nil || rhs == nil ? nil : false
    }

    private static func isElement(_ value: DatabaseValue, of list: [DatabaseValue]) -> Bool? {
        list.reduce(false) { or($0, Comparison.equal.holds(value, $1, isIdentity: false)) }
    }
}

extension RandomCondition.Operand {
    fileprivate var isWrittenNull: Bool {
        if case .value(.null) = self { true } else { false }
    }

    fileprivate func value(_ rows: [[DatabaseValue]]) -> DatabaseValue {
        switch self {
        case .column(let table, let column): rows[table][column]
        case .value(let value): value
        }
    }
}

extension RandomCondition.Comparison {
    fileprivate func holds(_ lhs: DatabaseValue, _ rhs: DatabaseValue, isIdentity: Bool) -> Bool? {
        let order = storageOrder(lhs, rhs)
        switch self {
        case .is: return order == 0
        case .isNot: return order != 0
        case .equal where isIdentity: return order == 0
        case .notEqual where isIdentity: return order != 0
        default: break
        }
        if lhs.isNull || rhs.isNull { return nil }
        return switch self {
        case .equal, .is: order == 0
        case .notEqual, .isNot: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

extension RandomCondition.Bounds {
    fileprivate func contain(_ value: DatabaseValue) -> Bool? {
        func compare(_ comparison: RandomCondition.Comparison, _ bound: some DatabaseValueConvertible) -> Bool? {
            comparison.holds(value, bound.databaseValue, isIdentity: false)
        }
        func between(_ low: some DatabaseValueConvertible, _ high: some DatabaseValueConvertible) -> Bool? {
            RandomCondition.and(compare(.greaterOrEqual, low), compare(.lessOrEqual, high))
        }
        return switch self {
        case .integers(let range): between(range.lowerBound, range.upperBound)
        case .numbers(let range): between(range.lowerBound, range.upperBound)
        case .texts(let range): between(range.lowerBound, range.upperBound)
        case .upTo(let range):
            RandomCondition.and(compare(.greaterOrEqual, range.lowerBound), compare(.less, range.upperBound))
        case .from(let low): compare(.greaterOrEqual, low)
        case .through(let high): compare(.lessOrEqual, high)
        case .below(let high): compare(.less, high)
        }
    }
}

// MARK: - The order of values

/// Below 0 where `lhs` comes first: NULL, numbers, texts by their bytes, blobs:
/// <https://www.sqlite.org/datatype3.html#sort_order>.
func storageOrder(_ lhs: DatabaseValue, _ rhs: DatabaseValue) -> Int {
    func order<T: Comparable>(_ lhs: T, _ rhs: T) -> Int { lhs < rhs ? -1 : lhs == rhs ? 0 : 1 }
    func order(_ lhs: some Sequence<UInt8>, _ rhs: some Sequence<UInt8>) -> Int {
        lhs.lexicographicallyPrecedes(rhs) ? -1 : lhs.elementsEqual(rhs) ? 0 : 1
    }
    /// Exact: an integer may have no equal among the reals.
    func exactOrder(_ lhs: Int64, _ rhs: Double) -> Int {
        guard rhs < 0x1p63 else { return -1 }
        guard rhs >= -0x1p63 else { return 1 }
        let whole = Int64(rhs)
        return lhs == whole ? order(rhs.rounded(.towardZero), rhs) : order(lhs, whole)
    }
    func rank(_ value: DatabaseValue) -> Int {
        switch value.storage {
        case .null: 0
        case .int64, .double: 1
        case .string: 2
        case .blob: 3
        }
    }
    return switch (lhs.storage, rhs.storage) {
    case (.int64(let lhs), .int64(let rhs)): order(lhs, rhs)
    case (.double(let lhs), .double(let rhs)): order(lhs, rhs)
    case (.int64(let lhs), .double(let rhs)): exactOrder(lhs, rhs)
    case (.double(let lhs), .int64(let rhs)): -exactOrder(rhs, lhs)
    case (.string(let lhs), .string(let rhs)): order(lhs.utf8, rhs.utf8)
    case (.blob(let lhs), .blob(let rhs)): order(lhs, rhs)
    default: order(rank(lhs), rank(rhs))
    }
}
