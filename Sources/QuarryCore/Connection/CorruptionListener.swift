/// Is told of the errors that say that a file is damaged. The context of a connection may be one.
package protocol CorruptionListener: AnyObject, Sendable {
    /// A statement of the connection has failed with `SQLITE_CORRUPT` or `SQLITE_NOTADB`.
    func connection(_ db: Database, didFailWith error: DatabaseError)
}

extension Database {
    /// Tells of an error that may say that the file is damaged.
    @inline(never)
    func noteCorruption(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: (context as? any CorruptionListener)?.connection(self, didFailWith: error)
        default: break
        }
    }

    /// Makes statements that may write throw an error from now on; nil lets them write again. Called inside an access.
    package func refuseWrites(with error: DatabaseError?) {
        if writeRefusal == nil, error != nil { access.beginReadOnly() }
        if writeRefusal != nil, error == nil { access.endReadOnly() }
        writeRefusal = error
    }
}
