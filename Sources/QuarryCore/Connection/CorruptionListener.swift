/// Is told of the errors that say that a file is damaged. The context of a connection may be one.
package protocol CorruptionListener: AnyObject, Sendable {
    /// A statement of the connection has failed with `SQLITE_CORRUPT` or `SQLITE_NOTADB`.
    func connection(_ db: Database, didFailWith error: DatabaseError)
}
