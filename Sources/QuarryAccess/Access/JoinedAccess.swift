package import QuarryCore

/// The access that a bound table joins, as found on the current thread.
enum JoinedAccess {
    /// None is open: the table makes its own.
    case none
    /// A write, or an access without a transaction to a connection that writes.
    case write(Database)
    /// A read.
    case read(Database)
    /// A read inside a write of one pool, or a write inside a read: which is meant isn't known.
    case both

    /// The accesses of this thread to the connections of a reader's database.
    init(to reader: any DatabaseReader) {
        guard let reader = reader.groupReader else {
            self = .none
            return
        }
        let writer = (reader as? any GroupWriter)?.writer.group
        let read = writer === reader.readers.group ? nil : reader.readers.group.ownedConnection
        switch (writer?.ownedConnection, read) {
        case (nil, nil): self = .none
        case (nil, let db?): self = .read(db)
        case (let db?, nil): self = db.isReadOnly ? .read(db) : .write(db)
        case (_?, _?): self = .both
        }
    }
}

extension DatabaseReader {
    /// Reads in the access that this thread has, or else in one of its own.
    ///
    /// - parameter table: the table, for errors.
    package func joinedRead<T>(_ table: String, _ value: (Database) throws -> T) throws -> T {
        switch JoinedAccess(to: self) {
        case .none: try read(value)
        case .read(let db), .write(let db): try value(db)
        case .both: throw DatabaseError.ambiguousAccess(table)
        }
    }
}

extension DatabaseWriter {
    /// Writes in the access that this thread has, in a savepoint, or else in a transaction of its own.
    ///
    /// - parameter table: the table, for errors.
    package func joinedWrite<T>(_ table: String, _ updates: (Database) throws -> T) throws -> T {
        switch JoinedAccess(to: self) {
        case .none: try write(updates)
        case .write(let db): try db.withSavepoint { (.commit, try updates(db)) }
        case .read:
            throw DatabaseError(
                resultCode: .SQLITE_READONLY,
                message: "table \(table) can't be written inside a read of its database")
        case .both: throw DatabaseError.ambiguousAccess(table)
        }
    }
}

extension DatabaseError {
    fileprivate static func ambiguousAccess(_ table: String) -> DatabaseError {
        DatabaseError.misuse(
            """
            table \(table) is used where both a read and a write of its database are open: call a method that takes \
            the Database that is meant
            """)
    }
}
