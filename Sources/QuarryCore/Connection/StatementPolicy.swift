/// Decides which statements of a connection may be prepared, in addition to the authorizer.
package protocol StatementPolicy: AnyObject {
    /// Throws if the statement that begins at a byte of some SQL must not be prepared.
    func willPrepare(_ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String) throws(DatabaseError)

    /// Throws if a statement that was prepared must not run.
    func didPrepare(_ statement: Statement, _ database: Database) throws

    /// Removes and returns the reason of a failure.
    ///
    /// - parameter code: SQLite's code of the failure.
    /// - returns: nil if the policy is not the reason.
    func takeRefusal(_ code: ResultCode) -> DatabaseError?

    /// Runs `body`, whose preparations are the library's own: the policy allows them all.
    func withoutRefusals<T>(_ body: () throws -> T) rethrows -> T

    /// The policy ends: the statements that were prepared can't run any more.
    func retireStatements()
}
