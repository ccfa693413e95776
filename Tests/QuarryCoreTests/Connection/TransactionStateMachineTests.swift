import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("The state machine of transactions")
struct TransactionStateMachineTests {
    private static let kinds: [StatementKind] = [
        .begin, .commit, .rollback, .rollbackToSavepoint, .savepoint, .release, .query, .attachment, .other,
    ]

    /// SQLite in few words: whether a transaction is open, and what each statement does to that.
    private struct Model {
        var isOpen = false
        var depth = 0
        /// Whether a savepoint opened the transaction, which its release then commits.
        var isOpenedBySavepoint = false
        /// Whether the last transaction that has ended was committed.
        var hasCommitted = false

        /// - parameter callsCommit: whether the statement calls a function that commits through SQLite's C functions.
        /// - returns: whether the statement succeeds.
        mutating func run(_ kind: StatementKind, fails: Bool, rollsBack: Bool, callsCommit: Bool) -> Bool {
            if callsCommit, isOpen, !kind.controlsTransactions {
                end(commits: true)
                return !fails
            }
            if fails {
                if rollsBack { end(commits: false) }
                return false
            }
            switch kind {
            case .begin:
                guard !isOpen else { return false }
                isOpen = true
            case .commit, .rollback:
                guard isOpen else { return false }
                end(commits: kind == .commit)
            case .savepoint:
                isOpenedBySavepoint = isOpenedBySavepoint || !isOpen
                isOpen = true
                depth += 1
            case .release:
                guard depth > 0 else { return false }
                depth -= 1
                if depth == 0, isOpenedBySavepoint { end(commits: true) }
            case .rollbackToSavepoint:
                return depth > 0
            case .query, .attachment, .other:
                break
            }
            return true
        }

        private mutating func end(commits: Bool) { self = Model(hasCommitted: commits) }
    }

    @Test func randomSchedulesReportTheirEvents() {
        var random = SeededGenerator()
        print("TransactionStateMachineTests.randomSchedules seed: \(random.seed)")
        for _ in 0..<20_000 {
            var machine = TransactionStateMachine()
            var model = Model()
            var isWrapped = false
            var begins = 0
            var ends = 0
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let kind = Self.kinds.randomElement(using: &random)!
                let fails = Int.random(in: 0..<4, using: &random) == 0
                let isReadonly = Bool.random(using: &random)
                let wasOpen = model.isOpen
                if Int.random(in: 0..<3, using: &random) == 0, model.isOpen {
                    machine.wrapperDidBegin()
                    isWrapped = true
                } else if Int.random(in: 0..<6, using: &random) == 0 {
                    machine.wrapperWillEnd()
                    isWrapped = false
                }

                // A statement that was meant for a transaction that is gone doesn't run.
                let admission = machine.statementWillStart(kind, isAutocommit: !wasOpen)
                let mustAbort = isWrapped && !wasOpen && kind != .rollback
                #expect((admission == .abort) == mustAbort, "seed \(random.seed)")
                #expect(machine.isAborted(isAutocommit: !wasOpen) == (isWrapped && !wasOpen))
                if admission == .abort { continue }

                let callsCommit = Int.random(in: 0..<4, using: &random) == 0
                let succeeded = model.run(
                    kind, fails: fails, rollsBack: Bool.random(using: &random), callsCommit: callsCommit)
                let event = machine.statementDidEnd(
                    kind, succeeded: succeeded, isReadonly: isReadonly, isAutocommit: !model.isOpen,
                    hasRolledBack: !model.hasCommitted)
                let expected: TransactionStateMachine.Event =
                    switch (wasOpen, model.isOpen) {
                    case (false, true): .didBegin
                    case (true, true): .none
                    case (true, false): model.hasCommitted ? .didCommit : .didRollback
                    case (false, false):
                        succeeded && !isReadonly && [.query, .attachment, .other].contains(kind) ? .didCommit : .none
                    }
                #expect(event == expected, "\(kind) \(succeeded) \(wasOpen) \(model.isOpen), seed \(random.seed)")
                #expect(machine.isInside == model.isOpen, "seed \(random.seed)")
                // Whoever has ended the transaction, the wrapper counts on.
                #expect(machine.isWrapped == isWrapped, "seed \(random.seed)")
                if isWrapped, wasOpen, !model.isOpen {
                    #expect(machine.wasLeft == (succeeded || model.hasCommitted), "seed \(random.seed)")
                    #expect(machine.wasCommitted == model.hasCommitted, "seed \(random.seed)")
                }
                if event == .didBegin { begins += 1 }
                if wasOpen, !model.isOpen { ends += 1 }
            }
            #expect(begins == ends + (model.isOpen ? 1 : 0), "seed \(random.seed)")
        }
    }

    @Test func suspendedWrapperLetsStatementsRun() {
        var machine = TransactionStateMachine()
        _ = machine.statementDidEnd(
            .begin, succeeded: true, isReadonly: true, isAutocommit: false, hasRolledBack: false)
        machine.wrapperDidBegin()
        _ = machine.statementDidEnd(
            .query, succeeded: false, isReadonly: false, isAutocommit: true, hasRolledBack: true)
        #expect(machine.statementWillStart(.query, isAutocommit: true) == .abort)
        let wasWrapped = machine.suspendWrapper()
        #expect(machine.statementWillStart(.query, isAutocommit: true) == .run)
        machine.restoreWrapper(wasWrapped)
        #expect(machine.statementWillStart(.query, isAutocommit: true) == .abort)
        #expect(machine.statementWillStart(.rollback, isAutocommit: true) == .run)
        machine.wrapperWillEnd()
        #expect(machine.statementWillStart(.query, isAutocommit: true) == .run)
    }

    /// A write that shares its transaction with others doesn't end it.
    @Test func sharedTransactions() {
        var machine = TransactionStateMachine()
        _ = machine.statementDidEnd(
            .begin, succeeded: true, isReadonly: true, isAutocommit: false, hasRolledBack: false)
        machine.wrapperDidBegin()
        let admissions = { [kinds = Self.kinds] (isAutocommit: Bool) in
            kinds.map { machine.statementWillStart($0, isAutocommit: isAutocommit) }
        }
        #expect(admissions(false).allSatisfy { $0 == .run })
        machine.isShared = true
        for (kind, admission) in zip(Self.kinds, admissions(false)) {
            let expected: TransactionStateMachine.Admission =
                switch kind {
                case .commit, .rollback: .refuse
                case .release, .rollbackToSavepoint: .runInSavepoint
                default: .run
                }
            #expect(admission == expected, "\(kind)")
        }
        for (kind, admission) in zip(Self.kinds, admissions(true)) {
            #expect(admission == (kind == .rollback ? .run : .abort), "\(kind)")
        }
    }

    @Test func machineAgreesWithSQLite() throws {
        var random = SeededGenerator()
        print("TransactionStateMachineTests.againstSQLite seed: \(random.seed)")
        let statements = [
            "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "SAVEPOINT b", "RELEASE a",
            "RELEASE b",
            "ROLLBACK TO a", "ROLLBACK TO SAVEPOINT b", "INSERT INTO t DEFAULT VALUES",
            "INSERT OR ROLLBACK INTO t VALUES (1)",
            "INSERT OR ABORT INTO t VALUES (1)", "INSERT INTO guarded VALUES (1)", "DELETE FROM t WHERE a > 1",
            "SELECT COUNT(*) FROM t", "CREATE TEMP TABLE IF NOT EXISTS u (a)",
            "INSERT INTO t DEFAULT VALUES RETURNING a",
            "EXPLAIN COMMIT", "nonsense", "\u{FEFF}COMMIT", "ROLLBACK TRANSACTION x TO a", "SELECT run('COMMIT')",
            "SELECT run('ROLLBACK')", "SELECT run('ROLLBACK'), fail()", "SELECT run('COMMIT'), fail()",
        ]
        let counts = Lock((commits: 0, rollbacks: 0))
        var options = ConnectionOptions()
        let clock = Lock(0.0)
        options.transactionClock = { _ in
            clock.withLock {
                $0 += 1
                return $0
            }
        }
        try TestConnection(options: options).access { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY);
                    INSERT INTO t VALUES (1);
                    CREATE TABLE guarded (a);
                    CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN SELECT RAISE(ROLLBACK, 'refused'); END;
                    """)
            RawSQL.addFunctions(db)
            var expected = (commits: 0, rollbacks: 0)
            for _ in 0..<10_000 {
                let sql = statements.randomElement(using: &random)!
                let wasInside = db.isInsideTransaction
                let changes = db.totalChangesCount
                let date = try db.secondsOfTransaction
                db.afterNextTransaction { _ in
                    counts.withLock { $0.commits += 1 }
                } onRollback: { _ in
                    counts.withLock { $0.rollbacks += 1 }
                }
                let registered = db.openTransaction.nextHandlers.count
                var succeeded = true
                do { try db.execute(sql: sql) } catch { succeeded = false }
                #expect(db.openTransaction.state.isInside == db.isInsideTransaction, "\(sql), seed \(random.seed)")
                if wasInside, db.isInsideTransaction {
                    #expect(try db.secondsOfTransaction == date, "\(sql), seed \(random.seed)")
                }
                let commits = ["COMMIT", "\u{FEFF}COMMIT", "END", "RELEASE a", "RELEASE b"].contains(sql) && succeeded
                if wasInside, !db.isInsideTransaction {
                    if commits || sql.contains("run('COMMIT')") {
                        expected.commits += registered
                    } else {
                        expected.rollbacks += registered
                    }
                } else if !wasInside, !db.isInsideTransaction, succeeded, db.openTransaction.nextHandlers.isEmpty {
                    expected.commits += registered
                } else if !wasInside, !db.isInsideTransaction, !succeeded, sql.hasPrefix("INSERT") {
                    // A statement outside a transaction is one, which is rolled back.
                    expected.rollbacks += registered
                } else {
                    // Nothing ended: a change outside a transaction would have.
                    #expect(db.isInsideTransaction || db.totalChangesCount == changes, "\(sql), seed \(random.seed)")
                    #expect(db.openTransaction.nextHandlers.count == registered, "\(sql), seed \(random.seed)")
                }
                #expect(counts.withLock { $0 } == expected, "\(sql), seed \(random.seed)")
            }
            try db.rollback()
        }
    }
}
