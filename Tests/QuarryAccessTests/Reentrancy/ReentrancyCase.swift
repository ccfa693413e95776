import Quarry
import QuarryTestSupport

/// One place, one action in its midst, and how many statements the connection keeps.
struct ReentrancyCase: Sendable, CustomStringConvertible {
    var place: ReentrancyPlace
    var action: ReentrancyAction
    var cacheCapacity: Int

    static let all: [ReentrancyCase] = ReentrancyPlace.all.flatMap { place in
        ReentrancyAction.all.flatMap { action in
            [1, 2, 128].map { ReentrancyCase(place: place, action: action, cacheCapacity: $0) }
        }
    }

    /// About `count` cases at random, as many of each place: some actions end the access before the place is reached,
    /// so a place that chance leaves with a few cases may not be reached at all.
    static func some(_ count: Int, using random: inout SeededGenerator) -> [ReentrancyCase] {
        let length = all.count / ReentrancyPlace.all.count
        let share = (count + ReentrancyPlace.all.count - 1) / ReentrancyPlace.all.count
        return stride(from: 0, to: all.count, by: length)
            .flatMap { all[$0..<$0 + length].shuffled(using: &random).prefix(share) }
            .shuffled(using: &random)
    }

    var description: String { "\(place.name), \(action.name), cache of \(cacheCapacity)" }

    /// Runs it, and looks at the connection afterwards.
    ///
    /// - returns: what is wrong, if something is, and whether the action has run.
    func run(_ kind: ReentrancyStage.Kind, path: String) -> (problem: String?, wasReached: Bool) {
        do {
            let stage = try ReentrancyStage(kind, path: path, cacheCapacity: cacheCapacity, action: action)
            let problem = ReentrancyStage.$current.withValue(stage) { run(stage) }
            return (problem, stage.wasReached)
        } catch {
            return ("it could not begin: \(error)", false)
        }
    }

    private func run(_ stage: ReentrancyStage) -> String? {
        do {
            try stage.queue.writeWithoutTransaction { db in
                stage.isPreparing = false
                defer { stage.isPreparing = true }
                try place.run(stage, db)
            }
        } catch let error as ReentrancyAction.NotRefused {
            return "\(error.name) was not refused"
        } catch is DatabaseError, is RowDecodingError, is RecordError, is CancellationError, is ReentrancyAction.Thrown,
            is DecodingError
        {
            // As it should be.
        } catch {
            return "an error of another type: \(type(of: error)): \(error)"
        }
        stage.isPreparing = true
        (stage.cursor, stage.statement) = (nil, nil)
        stage.kept = []
        do {
            try stage.queue.writeWithoutTransaction { db in
                if db.isInsideTransaction { throw Problem("a transaction is open") }
                db.trace()
                stage.addExtensions(db)
                let result = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                if result != ["ok"] { throw Problem("integrity_check: \(result)") }
            }
            try stage.queue.write { db in
                try db.execute(sql: "CREATE TABLE probe (a); INSERT INTO probe VALUES (1), (2)")
                if db.changesCount != 2 { throw Problem("\(db.changesCount) changes, not 2") }
            }
            let sum = try stage.queue.read { db in try Int.fetchOne(db, sql: "SELECT sum(a) FROM probe") }
            if sum != 3 { throw Problem("the sum is \(String(describing: sum))") }
            try stage.queue.close()
        } catch {
            return "afterwards: \(error)"
        }
        return nil
    }

    private struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
