import Quarry

/// Where a run writes to.
public struct Console: Sendable {
    let output: @Sendable (String) -> Void
    let error: @Sendable (String) -> Void
    let errorIsTerminal: Bool

    /// - parameter errorIsTerminal: whether `error` reaches a terminal, where a line can be drawn anew.
    public init(
        output: @escaping @Sendable (String) -> Void, error: @escaping @Sendable (String) -> Void,
        errorIsTerminal: Bool
    ) {
        self.output = output
        self.error = error
        self.errorIsTerminal = errorIsTerminal
    }
}

extension Console {
    /// Runs a command whose exit status is 0 unless it throws.
    func reportingErrors(database: String?, _ command: (String) async throws -> Void) async -> Int32 {
        await reportingErrors(database: database) { path in
            try await command(path)
            return 0
        }
    }

    /// Runs a command, and reports an error in one line on standard error.
    ///
    /// - parameter database: the file that errors of SQLite concern; nil for the default database.
    /// - parameter command: receives the path of that file, and returns its exit status.
    /// - returns: the exit status: that of the command; 1 after an error; 130 if the task was cancelled.
    func reportingErrors(database: String?, _ command: (String) async throws -> Int32) async -> Int32 {
        var path = database ?? "the database"
        do {
            path = try database ?? DefaultDatabase.path()
            return try await command(path)
        } catch is CancellationError {
            error("catalog: interrupted\n")
            return 130
        } catch let failure as DatabaseError {
            error("catalog: \(CatalogError(failure, path: path))".printable + "\n")
        } catch let failure {
            error("catalog: \(failure)".printable + "\n")
        }
        return 1
    }
}
