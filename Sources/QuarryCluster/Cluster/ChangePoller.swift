import Quarry
import QuarryCore

/// Tells the observations of this process about the changes of others.
///
/// Triggers count the changes of each table: see `DatabaseCluster.countChanges(in:)`. While there are observations, one
/// read fetches all counters at each interval, whatever the number of observations.
final class ChangePoller: Sendable {
    private let task: Task<Void, Never>

    init(_ pool: ClusterPool, interval: Duration) {
        task = Task.detached { [weak pool] in
            var counters: [String: Int64]?
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                guard let pool else { return }
                guard pool.observationCount > 0 else {
                    counters = nil
                    continue
                }
                counters = await Self.look(pool, counters) ?? counters
            }
        }
    }

    deinit { task.cancel() }

    func stop() { task.cancel() }

    /// Compares the counters with those of the last look, and tells of the tables that have changed.
    ///
    /// - returns: the counters; nil if they couldn't be read, or if there are none.
    private static func look(_ pool: ClusterPool, _ last: [String: Int64]?) async -> [String: Int64]? {
        guard let counters = try? await pool.read({ db in try db.changeCounters() }) else { return nil }
        // The first look can't tell what has changed since an observation's first fetch.
        let changed = counters.filter { last == nil || last?[$0.key] != $0.value }.map(\.key)
        guard !changed.isEmpty else { return counters }
        do {
            try await pool.writeWithoutTransaction { db in
                // A table that was dropped keeps its counter.
                for table in changed where try db.tableExists(table) { try db.notifyChanges(in: Table<Row>(table)) }
            }
            return counters
        } catch {
            return nil
        }
    }
}

extension Database {
    /// The counters by table; nil if the database has none.
    fileprivate func changeCounters() throws -> [String: Int64]? {
        guard try tableExists("quarry_change") else { return nil }
        var counters: [String: Int64] = [:]
        for row in try Row.fetchAll(self, sql: "SELECT name, count FROM quarry_change") {
            counters[row[0]] = row[1]
        }
        return counters
    }

    /// Lets triggers count the changes of tables.
    fileprivate func countChanges(in tables: [String]) throws {
        try execute(
            sql: """
                CREATE TABLE IF NOT EXISTS quarry_change (name TEXT PRIMARY KEY, count INTEGER NOT NULL) \
                STRICT, WITHOUT ROWID
                """)
        for table in tables {
            try execute(sql: "INSERT OR IGNORE INTO quarry_change (name, count) VALUES (?, 0)", arguments: [table])
            let literal = table.quotedSQLText
            for event in ["INSERT", "UPDATE", "DELETE"] {
                let name = "quarry_change_\(table)_\(event.lowercased())".quotedDatabaseIdentifier
                try execute(
                    sql: """
                        CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON \(table.quotedDatabaseIdentifier) BEGIN \
                        UPDATE quarry_change SET count = count + 1 WHERE name = \(literal); END
                        """)
            }
        }
    }
}

extension DatabaseCluster {
    /// Lets the nodes count the changes of tables, so that observations in each process learn of the changes of all
    /// others.
    ///
    /// ```swift
    /// try await cluster.countChanges(in: ["player", "team"])
    /// for try await players in ValueObservation.tracking(Player.fetchAll).values(in: cluster) { … }
    /// ```
    /// ```sql
    /// CREATE TABLE quarry_change (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID
    /// CREATE TRIGGER "quarry_change_player_insert" AFTER INSERT ON "player" BEGIN
    ///     UPDATE quarry_change SET count = count + 1 WHERE name = 'player'; END
    /// ```
    ///
    /// Each changed row changes the table's counter, too. Without counters, an observation learns of the changes of its
    /// own `DatabaseCluster` alone. Another process's commit is noticed after
    /// `ClusterConfiguration.changePollingInterval` at the latest, plus the time of one read; the process's own are
    /// noticed at once, and once more by the next look.
    ///
    /// A table that is created later, or dropped and created again, has no counter until this is called again. Calling
    /// again for a table that is counted has no effect.
    ///
    /// - parameter tables: the names of tables; nil for all of them.
    /// - throws: `DatabaseError` if a table is missing, or if the write fails.
    public func countChanges(in tables: [String]? = nil) async throws {
        try await write { db in try db.countChanges(in: tables ?? db.countableTables()) }
    }

    /// As the asynchronous `countChanges(in:)`, on this thread.
    ///
    /// - throws: the errors of the asynchronous method.
    public func countChanges(in tables: [String]? = nil) throws {
        try write { db in try db.countChanges(in: tables ?? db.countableTables()) }
    }
}

extension Database {
    /// The tables that can have triggers, but for the library's own.
    fileprivate func countableTables() throws -> [String] {
        try String.fetchAll(
            self,
            sql: """
                SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
                AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'quarry\\_%' ESCAPE '\\' ORDER BY name
                """)
    }
}
