import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The state of a statement's arguments")
struct BoundArgumentsTests {
    private struct Model {
        var form: BoundArguments.Form
        var isBound: Bool
        var given = StatementArguments()
        var checkedValues: [DatabaseValue] = []

        mutating func give(_ arguments: StatementArguments, _ form: BoundArguments.Form) {
            self.form = form
            given = arguments
            isBound = false
            checkedValues = []
        }
    }

    @Test func randomSchedulesAgreeWithAModel() {
        var random = SeededGenerator()
        print("BoundArgumentsTests.randomSchedules seed: \(random.seed)")
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...3, using: &random)
            var bound = BoundArguments(parameterCount: count)
            defer { bound.integers.deallocate() }
            var model = Model(form: count == 0 ? .checked : .given, isBound: count == 0)
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let values = (0..<count).map { _ in Int.random(in: 0..<9, using: &random).databaseValue }
                let arguments: StatementArguments =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: StatementArguments(values: values)
                    case 1: ["name": 1]
                    default: [1, 2, 3, 4]
                    }
                switch Int.random(in: 0..<7, using: &random) {
                case 0:
                    bound.give(arguments)
                    model.give(arguments, .given)
                case 1:
                    bound.give(arguments, values: values)
                    model.give(arguments, .checked)
                    model.checkedValues = values
                case 2:
                    let named = Bool.random(using: &random)
                    let room = bound.giveIntegers(named: named, count: count)
                    #expect(room.count == count, "seed \(random.seed)")
                    for index in room.indices { room.initializeElement(at: index, to: Int64(index)) }
                    model.give(model.given, .integers(named: named))
                case 3:
                    bound.forget()
                    model.give(StatementArguments(), .given)
                case 4 where model.form == .given:
                    bound.check(values)
                    model.form = .checked
                    model.checkedValues = values
                case 5:
                    bound.didBind()
                    model.isBound = true
                default:
                    bound.didNotBind()
                    model.isBound = false
                }
                #expect(bound.form == model.form, "seed \(random.seed)")
                #expect(bound.isBound == model.isBound, "seed \(random.seed)")
                #expect(bound.given == model.given, "seed \(random.seed)")
                #expect(bound.checkedValues == model.checkedValues, "seed \(random.seed)")
                let areValues =
                    model.form == .given && model.given.namedValues.isEmpty
                    && model.given.values.count == count
                #expect(bound.areValues(parameterCount: count) == areValues, "seed \(random.seed)")
            }
        }
    }
}
