import Dispatch
import Quarry
import QuarryCore
import QuarryTestSupport

@testable import QuarryAccess

/// A query that is observed.
struct ObservedQuery: Sendable {
    /// How its region is found.
    enum Tracking: Sendable {
        /// By each fetch.
        case varying
        /// By the first fetch.
        case constant
        /// Given; the fetch also reads the clock, which isn't part of it.
        case region(any DatabaseRegionConvertible)
    }

    /// A value of the observation.
    struct Value: Sendable {
        /// The number of the snapshot; 0 if the fetch doesn't read it.
        let stamp: Int
        let rows: String
    }

    let name: String
    let sql: @Sendable (Database) throws -> String
    let tracking: Tracking
    /// Whether the writers never change its region.
    var isStill = false

    func rows(_ db: Database) throws -> String {
        try Row.fetchAll(db, sql: try sql(db)).map(\.description).joined(separator: " ")
    }

    func observation(_ fetches: Recorded<Int>) -> ValueObservation<ValueReducers.Fetch<Value>> {
        switch tracking {
        case .varying:
            .tracking { db in
                fetches.update { $0 += 1 }
                return Value(stamp: 0, rows: try rows(db))
            }
        case .constant:
            .trackingConstantRegion { db in
                fetches.update { $0 += 1 }
                return Value(stamp: 0, rows: try rows(db))
            }
        case .region(let region):
            .tracking(region: region) { db in
                fetches.update { $0 += 1 }
                let stamp = try Int.fetchOne(db, sql: "SELECT n FROM clock") ?? -1
                return Value(stamp: stamp, rows: try rows(db))
            }
        }
    }

    private init(_ name: String, _ tracking: Tracking, isStill: Bool = false, _ sql: String) {
        self.name = "\(name): \(sql)"
        self.tracking = tracking
        self.isStill = isStill
        self.sql = { _ in sql }
    }

    /// A query whose region is that of its SQL.
    private static func given(_ name: String, isStill: Bool = false, _ sql: String) -> ObservedQuery {
        ObservedQuery(name, .region(SQLRequest<Row>(sql: sql)), isStill: isStill, sql)
    }

    /// A table that is chosen by a value of another one.
    private static let chosen = ObservedQuery(
        name: "chosen table",
        sql: { db in
            let index = try Int.fetchOne(db, sql: "SELECT n FROM choice") ?? 0
            return "SELECT COUNT(*), SUM(a) FROM item\(index)"
        }, tracking: .varying)

    private init(name: String, sql: @escaping @Sendable (Database) throws -> String, tracking: Tracking) {
        self.name = name
        self.sql = sql
        self.tracking = tracking
    }

    /// The queries that no write touches.
    static let still: [ObservedQuery] = [
        given("still table", isStill: true, "SELECT * FROM still"),
        ObservedQuery("still table", .varying, isStill: true, "SELECT COUNT(*) FROM still"),
        ObservedQuery("still view", .varying, isStill: true, "SELECT SUM(a) FROM calm"),
        given("still column", isStill: true, "SELECT b FROM columns"),
        ObservedQuery("still column", .varying, isStill: true, "SELECT b FROM columns ORDER BY b"),
        ObservedQuery(
            "still row", .region(Table("rows").filter(key: 1_000)), isStill: true, "SELECT * FROM rows WHERE id = 1000"),
    ]

    /// A random query.
    static func random(_ generator: inout SeededGenerator) -> ObservedQuery {
        let table = ObservedSchema.itemTables.randomElement(using: &generator) ?? "item0"
        let other = ObservedSchema.itemTables.randomElement(using: &generator) ?? "item1"
        let id = Int.random(in: 1...40, using: &generator)
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: return given("table", "SELECT * FROM \(table) ORDER BY id")
        case 1: return ObservedQuery("table", .varying, "SELECT COUNT(*), SUM(a) FROM \(table)")
        case 2: return given("column", "SELECT u FROM \(table) ORDER BY u")
        case 3: return ObservedQuery("column", .constant, "SELECT SUM(a) FROM \(table)")
        case 4, 5:
            return ObservedQuery(
                "row", .region(Table(table).filter(key: id)), "SELECT * FROM \(table) WHERE id = \(id)")
        case 6:
            return ObservedQuery("rows", .region(Table("rows").filter(key: id)), "SELECT * FROM rows WHERE id = \(id)")
        case 7:
            return given(
                "join", "SELECT x.id, x.a, y.a FROM \(table) x JOIN \(other) y ON x.id = y.id ORDER BY x.id")
        case 8: return given("view", "SELECT * FROM pairs_\(table) ORDER BY child")
        case 9: return ObservedQuery("view", .varying, "SELECT COUNT(*) FROM pairs_\(table)")
        case 10: return ObservedQuery("shifting view", .varying, "SELECT COUNT(*), SUM(a) FROM shifting")
        case 11: return given("text", "SELECT rowid, body FROM docs WHERE docs MATCH 'word\(id % 5)' ORDER BY rowid")
        case 12: return ObservedQuery("text", .varying, "SELECT COUNT(*) FROM docs")
        case 13: return given("log", "SELECT COUNT(*) FROM log")
        case 14: return ObservedQuery("renamed", .varying, "SELECT a FROM shown")
        default: return chosen
        }
    }
}

/// An observation of a query, which may be cancelled and started again.
final class ObservedRun: Sendable {
    let query: ObservedQuery
    let fetches = Recorded(0)
    private let state: Recorded<State>

    /// Where it receives its values.
    enum Receiver: CaseIterable, Sendable {
        case task, concurrentQueue, serialQueue, mainActor, immediate, sequence, shared
    }

    private struct State: Sendable {
        var last: ObservedQuery.Value?
        var count = 0
        var faults: [String] = []
    }

    init(_ query: ObservedQuery) {
        self.query = query
        state = Recorded(State())
    }

    var last: ObservedQuery.Value? { state.value.last }
    var count: Int { state.value.count }
    var faults: [String] { state.value.faults }

    private func receive(_ value: ObservedQuery.Value) {
        state.update { state in
            if let last = state.last, last.stamp > value.stamp {
                state.faults.append("\(query.name): \(value.stamp) after \(last.stamp)")
            }
            state.last = value
            state.count += 1
        }
    }

    private func fail(_ error: any Error) { state.update { $0.faults.append("\(query.name): \(error)") } }

    /// Starts the observation, on a thread that may block.
    func start(in writer: any DatabaseWriter, _ receiver: Receiver) -> AnyDatabaseCancellable {
        let observation = query.observation(fetches)
        let onError: @Sendable (any Error) -> Void = { self.fail($0) }
        let onChange: @Sendable (ObservedQuery.Value) -> Void = { self.receive($0) }
        func start(_ scheduler: some ValueObservationScheduler) -> AnyDatabaseCancellable {
            observation.start(in: writer, scheduling: scheduler, onError: onError, onChange: onChange)
        }
        switch receiver {
        case .task: return start(.task)
        case .concurrentQueue: return start(.async(onQueue: .global()))
        case .serialQueue: return start(.async(onQueue: DispatchQueue(label: "values")))
        case .immediate: return start(.immediate)
        case .mainActor:
            return DispatchQueue.main.sync {
                MainActor.assumeIsolated {
                    observation.start(in: writer, onError: onError, onChange: onChange)
                }
            }
        case .sequence:
            let task = Task {
                do {
                    for try await value in observation.values(in: writer) { receive(value) }
                } catch { fail(error) }
            }
            return AnyDatabaseCancellable { task.cancel() }
        case .shared:
            return observation.shared(in: writer, scheduling: .task).start(onError: onError, onChange: onChange)
        }
    }
}
