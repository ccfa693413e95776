extension Database {
    /// Runs `body`, and returns the SQL of the statements it ran that may write, as written, in order.
    ///
    /// Statements that begin and end transactions and savepoints are left out, and so are statements of triggers.
    /// Arguments are shown only if `publicStatementArguments` is true.
    package func recordingChanges(_ body: () throws -> Void) throws -> [String] {
        try checkAccess()
        var texts: [String] = []
        let client = hooks.onTrace(.statements) { [options] event in
            guard case .statement(let statement, let text) = event, TracedStatementCalls.isSQL(text, of: statement),
                !TracedStatementCalls.isReadOnly(statement)
            else { return }
            let sql = String(cString: text)
            guard !StatementKind(sql: Substring(sql).utf8.skippingSpaceAndComments).controlsTransactions else { return }
            TracedStatement.lend(statement, text: text, showsArguments: options.publicStatementArguments) {
                texts.append($0.description)
            }
        }
        defer { hooks.remove(client) }
        try body()
        return texts
    }
}
