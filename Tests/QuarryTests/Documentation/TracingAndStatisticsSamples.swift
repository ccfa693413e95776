import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Tracing and statistics".
@Suite struct TracingAndStatisticsSamples {
    static let logged = Recorded<[String]>([])

    struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
    }

    struct SlowLog: DatabaseTracer {
        var options = DatabaseTracing.Options([.slowStatements, .waits, .errors])

        func receive(_ event: DatabaseTraceEvent) {
            switch event {
            case .slowStatement(let slow):
                log("\(slow.statement.duration) \(slow.statement.sql)\n\(slow.plan?.description ?? "")")
            case .wait(let wait):
                for holder in wait.holders {
                    log("waits for \(holder.label ?? "an access"), which has run \(holder.sql ?? "nothing yet")")
                }
            case .failure(let failure) where failure.severity >= .error:
                log("\(failure.severity): \(failure.error)")
            default: break
            }
        }
    }

    @Test func tracers() throws {
        let folder = try TemporaryFolder()
        let dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        var config = Configuration()
        config.tracers = [SlowLog()]  // from the opening
        let registration = dbPool.addTracer(SlowLog())  // one database
        let ofAll = DatabaseTracing.addTracer(SlowLog())  // all databases of the process
        registration.remove()
        ofAll.remove()
        let traced = try DatabasePool(path: folder.file("players.sqlite"), configuration: config)
        _ = try? traced.read { db in try Row.fetchAll(db, sql: "SELECT * FROM nothing_of_the_sample") }
        let errors = Self.logged.value.filter { $0.contains("nothing_of_the_sample") }
        #expect(errors.count == 1 && errors.first?.hasPrefix("error: SQLite error 1: no such table") == true)
    }

    @Test func options() throws {
        var options = DatabaseTracing.Options([.accesses, .statements])
        options.everyNthAccess = 100
        options.everyNthStatement = 1000
        options.slowStatementThreshold = .milliseconds(50)
        options.waitThreshold = .seconds(2)
        options.redaction = .none
        let dbQueue = try DatabaseQueue()
        let count = Recorded(0)
        dbQueue.addTracer(options) { _ in count.update { $0 += 1 } }
        for _ in 0..<101 { try dbQueue.read { _ in } }
        #expect(count.value == 3)
    }

    @Test func statistics() async throws {
        let print = { @Sendable (_: Any...) in }
        let folder = try TemporaryFolder()
        let dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try await dbPool.write { db in try db.makePlayers() }
        let before = dbPool.statistics
        _ = try await dbPool.read { db in try Player.fetchAll(db) }
        let last = dbPool.statistics.since(before)
        print(last.readers.accessCount, last.readers.wait.percentile(99), last.readers.hold.percentile(99))
        print(last.transactions.committed, last.statements.run, last.pageCache.missCount)
        print(dbPool.statistics.writer.waiters, dbPool.statistics.logBytes)
        print(DatabaseStatistics.process.memoryBytes)
        #expect(last.readers.accessCount == 1 && last.transactions.committed == 0 && last.statements.run > 2)
    }
}

private func log(_ text: String) { TracingAndStatisticsSamples.logged.update { $0.append(text) } }
