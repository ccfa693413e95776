public import Quarry
import QuarryCore
public import QuarrySQL

/// A table together with the database that it is in: one line reads or writes it.
///
/// ```swift
/// let players = dbQueue.table("player", of: Player.self)
/// let best = try players.fetchAll { $0.order(Column("score").desc).limit(10) }
/// ```
/// ```sql
/// BEGIN DEFERRED TRANSACTION
/// SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10
/// COMMIT TRANSACTION
/// ```
///
/// Each method is an access of its own. But on a thread that has an access to the same database open, a method joins
/// it:
///
/// ```swift
/// try dbQueue.write { db in
///     try players.insert(player)             // in this transaction
///     try Team.deleteAll(db)
///     let count = try players.fetchCount()   // sees the new player
/// }
/// ```
///
/// Making the value opens nothing, and checks nothing: `DatabaseReader.existingTable(_:of:)` checks that the table
/// exists. The methods that follow `await` never join, because the closure of an access can't wait: they are accesses
/// of their own.
///
/// Several methods of a pool may see several states. To read one state, use them inside `read`.
public protocol BoundTable<RowDecoder>: Sendable {
    /// The type of the rows.
    associatedtype RowDecoder
    /// The reader that the table is bound to.
    associatedtype Reader

    /// The table.
    var table: Table<RowDecoder> { get }

    /// The database: a reader, or a writer.
    var database: Reader { get }

    /// The database, as a reader.
    var reader: any DatabaseReader { get }
}

/// A table together with a reader of its database. See `BoundTable`.
///
/// ```swift
/// let players = snapshot.table("player", of: Player.self)
/// let count = try players.fetchCount()
/// ```
public struct TableReader<RowDecoder>: BoundTable {
    public let table: Table<RowDecoder>
    public let database: any DatabaseReader
    public var reader: any DatabaseReader { database }
}

/// A table together with a writer of its database. See `BoundTable`.
///
/// ```swift
/// let players = dbPool.table("player", of: Player.self)
/// try players.insert(Player(id: 1, name: "Arthur"))
/// ```
public struct TableWriter<RowDecoder>: BoundTable {
    public let table: Table<RowDecoder>
    public let database: any DatabaseWriter
    public var reader: any DatabaseReader { database }
}

extension DatabaseReader {
    /// A table of this database, to read with one line.
    ///
    /// ```swift
    /// let players = snapshot.table("player", of: Player.self)
    /// ```
    public func table<RowDecoder>(_ name: String, of type: RowDecoder.Type) -> TableReader<RowDecoder> {
        TableReader(table: Table(name), database: self)
    }

    /// The table of a record type.
    ///
    /// ```swift
    /// let players = snapshot.table(of: Player.self)
    /// ```
    public func table<RowDecoder: TableRecord>(of type: RowDecoder.Type) -> TableReader<RowDecoder> {
        table(type.databaseTableName, of: type)
    }

    /// A table or view of this database, which exists now.
    ///
    /// - throws: `SQLITE_ERROR`, "no such table: player", if it doesn't; the errors of `read`.
    public func existingTable<RowDecoder>(
        _ name: String, of type: RowDecoder.Type
    ) throws -> TableReader<RowDecoder> {
        try joinedRead(name) { db in try db.checkExistence(name) }
        return table(name, of: type)
    }

    /// As the synchronous `existingTable`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `existingTable`; `CancellationError`.
    public func existingTable<RowDecoder>(
        _ name: String, of type: RowDecoder.Type
    ) async throws -> TableReader<RowDecoder> {
        try await read { db in try db.checkExistence(name) }
        return table(name, of: type)
    }
}

extension DatabaseWriter {
    /// A table of this database, to read and write with one line.
    ///
    /// ```swift
    /// let players = dbQueue.table("player", of: Player.self)
    /// try players.insert(Player(id: 1, name: "Arthur"))
    /// ```
    public func table<RowDecoder>(_ name: String, of type: RowDecoder.Type) -> TableWriter<RowDecoder> {
        TableWriter(table: Table(name), database: self)
    }

    /// The table of a record type.
    ///
    /// ```swift
    /// let players = dbQueue.table(of: Player.self)
    /// ```
    public func table<RowDecoder: TableRecord>(of type: RowDecoder.Type) -> TableWriter<RowDecoder> {
        table(type.databaseTableName, of: type)
    }

    /// A table or view of this database, which exists now.
    ///
    /// ```swift
    /// let players = try dbQueue.existingTable("player", of: Player.self)
    /// ```
    ///
    /// - throws: `SQLITE_ERROR`, "no such table: player", if it doesn't; the errors of `read`.
    public func existingTable<RowDecoder>(
        _ name: String, of type: RowDecoder.Type
    ) throws -> TableWriter<RowDecoder> {
        try joinedRead(name) { db in try db.checkExistence(name) }
        return table(name, of: type)
    }

    /// As the synchronous `existingTable`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `existingTable`; `CancellationError`.
    public func existingTable<RowDecoder>(
        _ name: String, of type: RowDecoder.Type
    ) async throws -> TableWriter<RowDecoder> {
        try await read { db in try db.checkExistence(name) }
        return table(name, of: type)
    }
}

extension Database {
    fileprivate func checkExistence(_ name: String) throws {
        if try tableExists(name) { return }
        if try viewExists(name) { return }
        throw noSuchTable(name)
    }
}
