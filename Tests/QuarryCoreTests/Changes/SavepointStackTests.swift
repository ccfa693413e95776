import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The stack of savepoints, compared with a model that follows SQLite's words.
@Suite struct SavepointStackTests {
    /// "The transaction stack": each savepoint has those that were begun before it.
    private indirect enum Model {
        case none
        case savepoint(String, in: Model)

        var depth: Int {
            switch self {
            case .none: 0
            case .savepoint(_, let outer): outer.depth + 1
            }
        }

        func has(_ name: String) -> Bool {
            switch self {
            case .none: false
            case .savepoint(let own, let outer): own == name || outer.has(name)
            }
        }

        /// The savepoints that were begun before the newest one of that name; all if there is none.
        func released(_ name: String) -> Model {
            guard has(name), case .savepoint(let own, let outer) = self else { return self }
            return own == name ? outer : outer.released(name)
        }

        /// The newest savepoint of that name is the last one afterwards.
        func rolledBack(to name: String) -> Model {
            guard has(name), case .savepoint(let own, let outer) = self else { return self }
            return own == name ? self : outer.rolledBack(to: name)
        }
    }

    @Test func randomSequences() {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        var history: [String] = []
        for _ in 0..<200 {
            var (stack, model) = (SavepointStack(), Model.none)
            history = []
            for _ in 0..<60 {
                let name = ["a", "A", "b", "B", "é", "É", ""].randomElement(using: &generator) ?? ""
                // SQLite ignores the case of ASCII letters only.
                let folded = name == "A" ? "a" : name == "B" ? "b" : name
                switch Int.random(in: 0..<20, using: &generator) {
                case 0..<10:
                    stack.begin(name)
                    model = .savepoint(folded, in: model)
                    history.append("begin \(name)")
                case 10..<14:
                    stack.release(name)
                    model = model.released(folded)
                    history.append("release \(name)")
                case 14..<19:
                    stack.rollBack(to: name)
                    model = model.rolledBack(to: folded)
                    history.append("roll back to \(name)")
                default:
                    stack.removeAll()
                    model = .none
                    history.append("end")
                }
                #expect(stack.depth == model.depth, "seed \(generator.seed): \(history)")
                let isOldest = model.has(folded) && model.released(folded).depth == 0
                #expect(stack.isOldest(name) == isOldest, "seed \(generator.seed): \(history)")
            }
        }
    }

    /// The same statements in SQLite: a savepoint that the stack doesn't have can't be released.
    @Test func sqliteAgrees() throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        try withConnection { db in
            var stack = SavepointStack()
            for _ in 0..<2000 {
                let name = ["a", "A", "b", "c"].randomElement(using: &generator) ?? ""
                var changed = stack
                let sql: String
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1:
                    sql = "SAVEPOINT \(name)"
                    changed.begin(name)
                case 2, 3:
                    sql = "RELEASE \(name)"
                    changed.release(name)
                default:
                    sql = "ROLLBACK TO \(name)"
                    changed.rollBack(to: name)
                }
                let isKnown = { () -> Bool in
                    var copy = stack
                    copy.release(name)
                    return copy != stack
                }()
                let succeeded = (try? db.execute(sql: sql)) != nil
                #expect(succeeded == (sql.hasPrefix("SAVEPOINT") || isKnown), "seed \(generator.seed): \(sql)")
                if succeeded { stack = changed }
                #expect(db.isInsideTransaction == (stack.depth > 0), "seed \(generator.seed): \(sql)")
            }
            if db.isInsideTransaction { try db.rollback() }
        }
    }
}
