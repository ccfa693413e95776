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
