/// The statements that a connection runs repeatedly, prepared once.
enum ControlStatement: Int, CaseIterable {
    case beginDeferred
    case beginImmediate
    case beginExclusive
    case commit
    case rollback
    case savepoint
    case releaseSavepoint
    case rollbackToSavepoint
    case schemaVersion
    case dataVersion

    var sql: String {
        switch self {
        case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
        case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
        case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
        case .commit: "COMMIT TRANSACTION"
        case .rollback: "ROLLBACK TRANSACTION"
        case .savepoint: "SAVEPOINT quarry"
        case .releaseSavepoint: "RELEASE SAVEPOINT quarry"
        case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT quarry"
        case .schemaVersion: "PRAGMA schema_version"
        case .dataVersion: "PRAGMA main.data_version"
        }
    }
}

extension Database {
    func controlStatement(_ control: ControlStatement) throws -> Statement {
        try checkAccess()
        if let statement = controlStatements[control.rawValue] { return statement }
        let statement = try makeStatement(sql: control.sql)
        controlStatements[control.rawValue] = statement
        return statement
    }

    /// Prepares the statement that releases the locks, before they are taken: without free memory no statement can be
    /// prepared.
    @inline(__always)
    func prepareRollback() throws {
        try checkAccess()
        if controlStatements[ControlStatement.rollback.rawValue] == nil { try prepareFirstRollback() }
    }

    @inline(never)
    private func prepareFirstRollback() throws {
        do {
            _ = try controlStatement(.rollback)
        } catch let error as DatabaseError where error.resultCode != .SQLITE_NOMEM {
            // Any other problem also makes BEGIN fail, and BEGIN's error names the caller's request.
        }
    }

    func run(_ control: ControlStatement) throws {
        try checkAccess()
        guard let statement = controlStatements[control.rawValue] else {
            return try controlStatement(control).execute(in: self)
        }
        // Not retained: the statement lives until the connection is closed, and an access never closes its own
        // connection.
        try Unmanaged.passUnretained(statement)._withUnsafeGuaranteedRef { try $0.execute(in: self) }
    }
}
