import Quarry
import QuarryTestSupport

/// The parts of random requests of some tables.
struct RandomParts {
    let schema: RandomSchema
    /// The tables of the request, by their places in the schema.
    let tables: [Int]

    func column(of table: Int, using random: inout SeededGenerator) -> Int {
        schema.tables[tables[table]].columns.indices.randomElement(using: &random)!
    }

    /// The numbers of the rows come last, so that no two rows are equal.
    func orders(using random: inout SeededGenerator) -> [RandomRequest.Order] {
        var terms: [RandomRequest.Order.Term] = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            if Int.random(in: 0..<3, using: &random) == 0 { return .condition(comparison(using: &random)) }
            let table = tables.indices.randomElement(using: &random)!
            return .column(table: table, column: column(of: table, using: &random))
        }
        terms += tables.indices.map { .column(table: $0, column: 0) }
        return terms.map {
            RandomRequest.Order(
                term: $0, direction: RandomRequest.Order.Direction.allCases.randomElement(using: &random)!)
        }
    }

    /// - parameter depth: how many conditions are nested.
    func condition(depth: Int, using random: inout SeededGenerator) -> RandomCondition {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 7), using: &random) {
        case 0, 1, 2: return comparison(using: &random)
        case 3: return list(using: &random)
        case 4: return .range(bounds(using: &random), operand(using: &random))
        case 5:
            let table = schema.tables.indices.randomElement(using: &random)!
            let column = schema.tables[table].columns.indices.randomElement(using: &random)!
            return .query(table: table, column: column, operand(using: &random))
        case 6:
            if Int.random(in: 0..<4, using: &random) > 0 { return comparison(using: &random) }
            return .constant([true, false, nil].randomElement(using: &random)!)
        case 7, 8: return .not(condition(depth: depth - 1, using: &random))
        case 9: return .and(condition(depth: depth - 1, using: &random), condition(depth: depth - 1, using: &random))
        default: return .or(condition(depth: depth - 1, using: &random), condition(depth: depth - 1, using: &random))
        }
    }

    private func comparison(using random: inout SeededGenerator) -> RandomCondition {
        .comparison(
            operand(using: &random), RandomCondition.Comparison.allCases.randomElement(using: &random)!,
            operand(using: &random))
    }

    private func list(using random: inout SeededGenerator) -> RandomCondition {
        let values = (0..<Int.random(in: 0...4, using: &random)).map { _ in value(using: &random) }
        return .list(values, operand(using: &random))
    }

    private func operand(using random: inout SeededGenerator) -> RandomCondition.Operand {
        if Int.random(in: 0..<3, using: &random) == 0 { return .value(value(using: &random)) }
        let table = tables.indices.randomElement(using: &random)!
        return .column(table: table, column: column(of: table, using: &random))
    }

    /// Often one that a table has.
    private func value(using random: inout SeededGenerator) -> DatabaseValue {
        let row = schema.tables[tables[0]].rows.randomElement(using: &random)
        let value = row?.randomElement(using: &random)
        return Bool.random(using: &random) ? value ?? .null : RandomSchema.value(using: &random)
    }

    private func bounds(using random: inout SeededGenerator) -> RandomCondition.Bounds {
        func range<T: Comparable>(_ values: [T]) -> ClosedRange<T> {
            let (a, b) = (values.randomElement(using: &random)!, values.randomElement(using: &random)!)
            return min(a, b)...max(a, b)
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .integers(range(RandomSchema.integers))
        case 1: return .numbers(range(RandomSchema.numbers))
        case 2: return .texts(range(RandomSchema.texts))
        case 3:
            let range = range(RandomSchema.integers)
            return .upTo(range.lowerBound..<range.upperBound)
        case 4: return .from(RandomSchema.numbers.randomElement(using: &random)!)
        case 5: return .through(RandomSchema.texts.randomElement(using: &random)!)
        default: return .below(RandomSchema.integers.randomElement(using: &random)!)
        }
    }
}
