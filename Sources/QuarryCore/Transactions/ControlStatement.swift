/// The statements that a connection runs again and again, prepared once.
enum ControlStatement: Hashable {
    case begin(Database.TransactionKind)
    case commit
    case rollback
    case savepoint
    case releaseSavepoint
    case rollbackToSavepoint
    case schemaVersion

    var sql: String {
        switch self {
        case .begin(let kind): "BEGIN \(kind.rawValue) TRANSACTION"
        case .commit: "COMMIT TRANSACTION"
        case .rollback: "ROLLBACK TRANSACTION"
        case .savepoint: "SAVEPOINT quarry"
        case .releaseSavepoint: "RELEASE SAVEPOINT quarry"
        case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT quarry"
        case .schemaVersion: "PRAGMA schema_version"
        }
    }
}

extension Database {
    func controlStatement(_ control: ControlStatement) throws -> Statement {
        if let statement = controlStatements[control] { return statement }
        let statement = try makeStatement(sql: control.sql)
        controlStatements[control] = statement
        return statement
    }

    func run(_ control: ControlStatement) throws {
        try controlStatement(control).execute()
    }
}
