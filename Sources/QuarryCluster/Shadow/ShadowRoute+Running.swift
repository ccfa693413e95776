import QuarryCore

extension ShadowRoute {
    /// Called before the first step of a statement, which a shadow can't do alone.
    func statementWillRun(_ statement: Statement, _ db: Database) throws {
        hasRunStatement = false
        isShielded = false
        if session.isReader, statement.mayChange {
            throw db.traced(
                DatabaseError(
                    resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql
                ).with(circumstances: db.hintOfReadOnly))
        }
        do {
            try rebuildIfStale(db)
        } catch {
            db.noteEndAtRoute()
            throw error
        }
        try db.routeWillRun(statement, defersForeignKeys: hasDeferredForeignKeys)
        let isAutocommit = ConnectionCalls.isAutocommit(db.pointer)
        do {
            switch statement.kind {
            case .query: break
            case .begin:
                if isAutocommit { try begin(statement, db) }
            case .commit:
                if !isAutocommit { try commit(statement, db) }
            case .rollback:
                if !isAutocommit { rollBack(db) }
            case .savepoint:
                if isAutocommit {
                    try begin(statement, db)
                } else {
                    try session.run(statement.sql, call(db))
                }
            case .release:
                if db.commits(byReleasing: statement.savepointName) {
                    try commit(statement, db)
                } else {
                    try session.run(statement.sql, call(db))
                }
            case .rollbackToSavepoint:
                try session.run(statement.sql, call(db))
                if hasOpenChange { shadowWillRollBack(db) }
            case .other, .attachment:
                try otherWillRun(statement, db)
            }
        } catch let error as DatabaseError {
            statementDidFail(error, db)
            db.noteEndAtRoute()
            throw db.errorOfRoute(error, sql: statement.sql)
        }
        hasRunStatement = true
    }

    private func otherWillRun(_ statement: Statement, _ db: Database) throws {
        switch StatementDestination(statement.kind, sql: Substring(statement.sql).utf8) {
        case .remote, .refused: break
        case .shadow: try learnSchema(db)
        case .both:
            if statement.sql.lowercased().hasPrefix("pragma") {
                try session.run(statement.sql, call(db))
            } else {
                try checkDeclaredTypes(ofChange: statement.sql, db)
                try session.run(statement.sql, call(db))
                // The columns of a statement on virtual tables don't follow the schema.
                db.forgetKeptStatements()
                if !ConnectionCalls.isAutocommit(db.pointer) { hasOpenChange = true }
            }
        }
    }

    private func begin(_ statement: Statement, _ db: Database) throws(DatabaseError) {
        loss = nil
        try session.begin(statement.sql, call(db))
    }

    private func commit(_ statement: Statement, _ db: Database) throws(DatabaseError) {
        isShielded = true
        do {
            try session.commit(statement.sql, call(db))
        } catch {
            isShielded = false
            throw error
        }
        hasOpenChange = false
    }

    private func rollBack(_ db: Database) {
        session.rollback()
        if hasOpenChange { shadowWillRollBack(db) }
        hasOpenChange = false
    }

    /// The shadow is about to have an earlier schema.
    private func shadowWillRollBack(_ db: Database) {
        shadowVersion = nil
        db.forgetKeptStatements()
    }

    /// After an error: lets the transactions of both sides end together.
    func statementDidFail(_ error: any Error, _ db: Database) {
        let isAutocommit = ConnectionCalls.isAutocommit(db.pointer)
        if isAutocommit, session.isInsideTransaction {
            rollBack(db)
        } else if !isAutocommit, !session.isInsideTransaction {
            if hasOpenChange { shadowWillRollBack(db) }
            hasOpenChange = false
            if let error = error as? DatabaseError, error.isOfLostTransaction { loss = error }
            run("ROLLBACK", db)
        }
    }

    var changes: RemoteChanges { session.changes }

    /// Runs a statement on the shadow alone.
    ///
    /// - returns: whether it succeeded.
    @discardableResult
    func run(_ sql: String, _ db: Database) -> Bool { (try? db.lookUp(sql) { _ in }) != nil }

    // MARK: - Settings

    func setForeignKeys(on isOn: Bool, _ db: Database) throws {
        do {
            try session.setForeignKeys(on: isOn, call(db))
        } catch {
            statementDidFail(error, db)
            throw error
        }
    }

    func setLegacyAlterTable(on isOn: Bool, _ db: Database) throws {
        try session.run("PRAGMA legacy_alter_table = \(isOn ? "ON" : "OFF")", call(db))
    }
}

extension DatabaseError {
    /// Whether the other end has lost the open transaction with its connection, and nothing was kept: also dqlite's
    /// SQLITE_IOERR_NOT_LEADER.
    fileprivate var isOfLostTransaction: Bool {
        extendedResultCode == .SQLITE_ABORT_ROLLBACK || extendedResultCode.rawValue == 10_250
    }
}
