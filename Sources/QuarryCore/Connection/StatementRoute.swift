/// Runs the statements of a connection whose data is elsewhere. SQLite prepares them here, on a database that has the
/// schema alone; the route runs them at the other end, instead or as well.
///
/// A connection of this machine has none. The thread that has the connection calls the methods, one at a time;
/// `isShielded` and `interrupt()` may be called from any thread.
package protocol StatementRoute: AnyObject, Sendable {
    /// The connection was opened, and has run no statement of the program.
    func connectionDidOpen(_ db: Database) throws

    /// Whether the other end has told its schema.
    var isKnown: Bool { get }

    /// Learns the schema. The first access asks for it: unlike the opening, it can be cancelled.
    func learnSchema(_ db: Database) throws

    /// Throws for SQL that must not even be prepared.
    func statementWillBePrepared(_ sql: Substring.UTF8View) throws(DatabaseError)

    /// Makes the statement that takes the place of one that was prepared here.
    func statement(
        _ handle: consuming StatementHandle, sql: Substring, persistent: Bool, _ db: Database
    ) throws -> Statement

    /// A statement couldn't be prepared.
    ///
    /// - returns: whether the schema has changed, so that preparing again may succeed.
    func preparationDidFail(_ code: CInt, sql: Substring.UTF8View, _ db: Database) throws -> Bool

    /// Called before the first step of a statement.
    func statementWillRun(_ statement: Statement, _ db: Database) throws

    /// Whether the statement that is about to run here has run at the other end: no deadline keeps it from that.
    var hasRunStatement: Bool { get }

    /// The numbers of rows that were changed at the other end.
    var changes: RemoteChanges { get }

    /// A step of a statement has failed.
    func statementDidFail(_ error: any Error, _ db: Database)

    /// The error with which the other end has lost the last transaction; nil if it hasn't.
    var loss: DatabaseError? { get }

    /// Turns foreign keys on or off at the other end.
    func setForeignKeys(on isOn: Bool, _ db: Database) throws

    /// Turns the old meaning of ALTER TABLE on or off at the other end.
    func setLegacyAlterTable(on isOn: Bool, _ db: Database) throws

    /// Whether interruptions concern the other end alone: it commits, and this end has to follow.
    var isShielded: Bool { get }

    /// Ends the wait for the other end.
    func interrupt()

    /// Closes the connection to the other end.
    func close()
}

/// The changes that SQLite counts for a connection: <https://www.sqlite.org/c3ref/changes.html>.
package struct RemoteChanges: Sendable {
    /// The rows that the last INSERT, UPDATE or DELETE changed.
    package private(set) var last = 0

    /// All rows that were changed.
    package private(set) var total = 0

    package init() {}

    /// Adds the rows of an INSERT, UPDATE or DELETE.
    ///
    /// - parameter count: the other end's count, which may be wrong. A node counts in 32 bits.
    package mutating func add(_ count: Int) {
        last = min(max(0, count), Int(Int32.max))
        total = Int(clamping: UInt(total) + UInt(last))
    }

    /// An INSERT, UPDATE or DELETE has failed. SQLite counts no rows then.
    package mutating func statementDidFail() { last = 0 }
}

extension Database {
    /// Throws if the data is elsewhere, where an operation can't be done.
    ///
    /// - parameter operation: what isn't to be had, as the subject of a sentence: "a backup of a connection".
    @inline(__always)
    package func checkIsLocal(_ operation: @autoclosure () -> String) throws(DatabaseError) {
        if route != nil { throw Self.notInACluster(operation()) }
    }

    @inline(never)
    package static func notInACluster(_ operation: String, sql: String? = nil) -> DatabaseError {
        DatabaseError.misuse("\(operation): not in a cluster", sql: sql)
    }

    /// Runs `body` between two changes of the other end's settings; alone if the data is on this machine.
    func withSettingsOfRoute<T>(
        _ change: (any StatementRoute) throws -> Void, restore: (any StatementRoute) throws -> Void,
        _ body: () throws -> T
    ) throws -> T {
        guard let route else { return try body() }
        try change(route)
        let result: T
        do {
            result = try body()
        } catch {
            // The first error counts.
            try? restoringSettings { try restore(route) }
            throw error
        }
        try restoringSettings { try restore(route) }
        return result
    }
}
