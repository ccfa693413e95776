import Quarry
import QuarryCore

/// The file that a database is restored from: opened, checked, and pinned before the database is touched.
final class RestoreSource: Sendable {
    private let connection: ConnectionGroup.Connection
    /// The operation, for errors.
    let operation: String
    let files: FileOperations
    let identity: FileOperations.Identity
    let pageSize: Int
    let encoding: String
    /// The number of the last commit, if the file keeps one.
    let commitNumber: Int?

    /// Opens the file as the database is opened: its indexes may need the functions and collations of the program.
    ///
    /// - parameter followsTask: whether the check is cancelled with the current task.
    init(
        _ path: String, for database: RestoredDatabase, _ check: BackupCheck, _ files: FileOperations, followsTask: Bool
    ) throws {
        let operation = "restoring \(database.configuration.label ?? database.path) from \(path)"
        self.operation = operation
        self.files = files
        identity = try Self.look(at: path, files, operation)
        // Opening the database by another name would miss its log.
        if FilePlace(path).suffix(amongFilesOf: FileKind.filePath(database.path)) != nil {
            throw Self.isOwnFile(operation)
        }
        var configuration = database.configuration
        configuration.acceptsURIs = false
        configuration.statementTimeout = nil
        var options = configuration.connectionOptions(readonly: true)
        // The transaction stays open until the content is copied.
        options.allowsUnsafeTransactions = true
        do {
            let db = try configuration.open(path: path, readonly: true, options: options, followsTask: followsTask)
            connection = ConnectionGroup.Connection(database: db)
            try db.beginAccess(nil, followsTask: followsTask)
            defer { db.suspendAccess() }
            try database.core.setups.prepare(db)
            try db.beginRead(pinned: true)
            try db.pass(check, operation)
            pageSize = try db.pageSize()
            encoding = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
            commitNumber = db.commitNumberInFile
        } catch let error as DatabaseError where error.resultCode != .SQLITE_INTERRUPT {
            throw Self.naming(error, operation)
        }
    }

    /// Throws for a path that can't be one of a database.
    private static func look(
        at path: String, _ files: FileOperations, _ operation: String
    ) throws -> FileOperations.Identity {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "\(operation): the path has a NUL character: \(String(reflecting: path))")
        }
        guard let status = try BackupTarget.calling(operation, { try files.status(path) }) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(operation): the file does not exist")
        }
        guard status.kind == .file else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "\(operation): it is \(status.kind.rawValue)")
        }
        guard status.byteCount > 0 else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "\(operation): the file is empty")
        }
        return status.identity
    }

    static func isOwnFile(_ operation: String) -> DatabaseError {
        DatabaseError.misuse("\(operation): it is the file of the database itself")
    }

    static func naming(_ error: DatabaseError, _ operation: String) -> DatabaseError {
        guard error.message?.hasPrefix(operation) != true else { return error }
        let advice =
            switch error.extendedResultCode {
            case .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT:
                ": it was not closed, and has to be opened for writing once"
            default: ""
            }
        return DatabaseError(
            resultCode: error.extendedResultCode, message: "\(operation): \(error.message ?? "")\(advice)")
    }

    /// Runs `body` with the connection, whose transaction stays open.
    func read<T>(_ body: (Database) throws -> T) throws -> T {
        try AccessRunner.frame(connection.database, kind: .snapshotRead, body)
    }
}

/// A copy of the source with the number of the commit that the restored database will have: the number is part of the
/// content, which is replaced in one transaction.
final class NumberedSource: Sendable {
    private let connection: ConnectionGroup.Connection

    /// Copies the source to a temporary file, which SQLite removes when it is closed, or its process ends:
    /// <https://www.sqlite.org/inmemorydb.html#temporary_databases>.
    init(_ source: RestoreSource) throws {
        var options = Configuration().connectionOptions(readonly: false)
        options.checksSchema = false
        options.pragmas = ["PRAGMA encoding = '\(source.encoding)'", "PRAGMA synchronous = OFF"]
        let copy = try Configuration().open(path: "", readonly: false, options: options)
        connection = ConnectionGroup.Connection(database: copy)
        try copy.asAccess { copy in try source.read { db in try db.backup(to: copy) } }
    }

    /// Runs `body` with a transaction that reads the content with a number.
    func read<T>(numbered number: Int, _ body: (Database) throws -> T) throws -> T {
        try AccessRunner.frame(connection.database) { copy in
            try copy.setCommitNumberInFile(number)
            return try AccessRequest.Kind.pinnedRead.run(copy, body)
        }
    }
}
