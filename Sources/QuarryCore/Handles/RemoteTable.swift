import CSQLite

/// A value of a remote row, lent for the length of a call.
package enum RemoteValue {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8 without NULs.
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
}

/// The rows that a remote statement returns. One thread uses them, the one that has the connection.
package protocol RemoteRows: AnyObject {
    /// The number of columns.
    var columnCount: Int { get }

    /// The name of a column.
    func columnName(_ index: Int) -> String

    /// Goes to the next row; false after the last.
    func next() throws(DatabaseError) -> Bool

    /// Passes a value of the current row to `body`.
    func withValue(_ index: Int, _ body: (RemoteValue) -> Void)

    /// The rest of the rows isn't needed.
    func close()
}

/// Runs the statements that `RemoteTable` represents.
package protocol RemoteTableClient: AnyObject {
    /// The arguments of the statement that is about to run.
    var pendingArguments: [DatabaseValue] { get set }

    func rows(of sql: String, _ arguments: [DatabaseValue], isReadonly: Bool) throws(DatabaseError) -> any RemoteRows
    func execute(_ sql: String, _ arguments: [DatabaseValue]) throws(DatabaseError)
}

/// Virtual tables that represent statements which run elsewhere: <https://www.sqlite.org/vtab.html#tabfunc2>.
///
/// A statement of the program becomes a statement on such a table. SQLite binds its arguments, steps it from row to row
/// and resets it, as it does with any statement: cursors, rows and decoders need no second way.
///
/// ```sql
/// SELECT c0 AS "id", c1 AS "name"
///     FROM sqlite_quarry_rows_2('SELECT * FROM player WHERE id = ?', 8253, quarry_arguments(0, ?))
/// INSERT INTO sqlite_quarry_changes
///     SELECT rowid FROM sqlite_quarry_execution('DELETE FROM player WHERE id = ?', 0, quarry_arguments(0, ?))
/// ```
///
/// The second one inserts nothing. It is an INSERT because a statement that returns no rows has no columns.
///
/// The arguments pass through a function, some at a time: SQLite would compare the argument of a table beyond the 16th
/// with the column of each row, and NULL equals nothing.
package enum RemoteTable {
    /// The most arguments that a statement has: a byte counts them on the wire.
    package static let maximumArgumentCount = 255

    /// The most arguments of one call of `quarry_arguments`: <https://www.sqlite.org/limits.html#max_function_arg>.
    package static let argumentsOfCall = 100

    /// The effect of reading or writing a virtual table.
    package enum Kind {
        /// Runs a query, and has the rows that it returns.
        case query(columnCount: Int)
        /// Runs a change with RETURNING, and has the rows that it returns.
        case returning(columnCount: Int)
        /// Runs a change, and has no rows.
        case execution
        /// Takes the rows of `execution`.
        case changes

        /// A table of the program can't have a name that begins with `sqlite_`.
        package var tableName: String {
            switch self {
            case .query(let count): "sqlite_quarry_rows_\(count)"
            case .returning(let count): "sqlite_quarry_changed_rows_\(count)"
            case .execution: "sqlite_quarry_execution"
            case .changes: "sqlite_quarry_changes"
            }
        }

        fileprivate var columnCount: Int {
            switch self {
            case .query(let count), .returning(let count): count
            case .execution: 0
            case .changes: 1
            }
        }

        /// The declaration: the columns of the rows, then the hidden ones that take the SQL, the fingerprint of the
        /// columns' names, and the calls of `quarry_arguments`.
        fileprivate var declaration: String {
            let columns = (0..<columnCount).map { "c\($0)" }
            let hidden =
                if case .changes = self {
                    [String]()
                } else {
                    ["s HIDDEN", "f HIDDEN", "a0 HIDDEN", "a1 HIDDEN", "a2 HIDDEN"]
                }
            return "CREATE TABLE x(\((columns + hidden).joined(separator: ", ")))"
        }
    }

    /// A number that tells lists of names apart.
    package static func fingerprint(_ names: some Sequence<String>) -> Int64 {
        // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for name in names {
            for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }

    /// Adds a table. The corresponding C function is `sqlite3_create_module_v2`.
    package static func add(_ kind: Kind, client: any RemoteTableClient, to connection: SQLiteConnection) -> CInt {
        let module = Module(kind, client)
        let context = Unmanaged.passRetained(module).toOpaque()
        let methods = if case .changes = kind { changesMethods } else { rowsMethods }
        // SQLite releases the module when the connection is closed, and when this call fails.
        return sqlite3_create_module_v2(connection, kind.tableName, methods, context) { context in
            if let context { Unmanaged<Module>.fromOpaque(context).release() }
        }
    }

    /// Adds the function that takes the arguments. The corresponding C function is `sqlite3_create_function_v2`.
    package static func addFunction(client: any RemoteTableClient, to connection: SQLiteConnection) -> CInt {
        let context = Unmanaged.passRetained(Module(.changes, client)).toOpaque()
        return sqlite3_create_function_v2(
            connection, "quarry_arguments", -1, SQLITE_UTF8, context, { RemoteTable.takeArguments($0, $1, $2) }, nil,
            nil, { context in if let context { Unmanaged<Module>.fromOpaque(context).release() } })
    }

    /// The first argument is the number of those that earlier calls have taken.
    private static func takeArguments(
        _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let module = sqlite3_user_data(context), let values, count > 0, let first = values[0] else { return }
        let client = Unmanaged<Module>.fromOpaque(module).takeUnretainedValue().client
        if sqlite3_value_int64(first) == 0 { client.pendingArguments.removeAll(keepingCapacity: true) }
        for index in 1..<Int(count) {
            guard let value = values[index].flatMap(ValueCalls.value) else {
                return sqlite3_result_error_nomem(context)
            }
            client.pendingArguments.append(value)
        }
        sqlite3_result_int64(context, sqlite3_value_int64(first))
    }

    /// Sets the rowid of the last insertion. The corresponding C function is `sqlite3_set_last_insert_rowid`.
    package static func setLastInsertedRowID(_ connection: SQLiteConnection, _ rowID: Int64) {
        sqlite3_set_last_insert_rowid(connection, rowID)
    }

    fileprivate final class Module {
        let kind: Kind
        /// The client keeps the connection's modules from outliving it: it is released with the connection.
        let client: any RemoteTableClient

        init(_ kind: Kind, _ client: any RemoteTableClient) {
            self.kind = kind
            self.client = client
        }
    }

    /// The rows of one cursor.
    fileprivate final class Rows {
        var rows: (any RemoteRows)?
        var isAtEnd = true

        func close() {
            rows?.close()
            rows = nil
        }
    }

    // MARK: - SQLite's methods

    private nonisolated(unsafe) static let rowsMethods: UnsafePointer<sqlite3_module> = {
        var methods = sqlite3_module()
        methods.xConnect = { connect($0, $1, $4, $5) }
        methods.xBestIndex = { bestIndex($0, $1) }
        methods.xDisconnect = { disconnect($0) }
        methods.xOpen = { open($0, $1) }
        methods.xClose = { close($0) }
        methods.xFilter = { cursor, _, _, count, values in filter(cursor, count, values) }
        methods.xNext = { next($0) }
        methods.xEof = { rows($0).isAtEnd ? 1 : 0 }
        methods.xColumn = { column($0, $1, $2) }
        methods.xRowid = { _, _ in SQLITE_OK }
        return allocated(methods)
    }()

    // Unchecked: the functions are never changed, and never freed.
    private nonisolated(unsafe) static let changesMethods: UnsafePointer<sqlite3_module> = {
        var methods = sqlite3_module()
        methods.xConnect = { connect($0, $1, $4, $5) }
        methods.xBestIndex = { _, _ in SQLITE_OK }
        methods.xDisconnect = { disconnect($0) }
        methods.xOpen = { open($0, $1) }
        methods.xClose = { close($0) }
        methods.xFilter = { _, _, _, _, _ in SQLITE_OK }
        methods.xNext = { _ in SQLITE_OK }
        methods.xEof = { _ in 1 }
        methods.xColumn = { _, _, _ in SQLITE_OK }
        methods.xRowid = { _, _ in SQLITE_OK }
        methods.xUpdate = { _, _, _, _ in SQLITE_OK }
        return allocated(methods)
    }()

    private static func allocated(_ methods: sqlite3_module) -> UnsafePointer<sqlite3_module> {
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return UnsafePointer(pointer)
    }

    private static func connect(
        _ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
        _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
        _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> CInt {
        guard let context, let result else { return SQLITE_MISUSE }
        let module = Unmanaged<Module>.fromOpaque(context).takeUnretainedValue()
        let code = sqlite3_declare_vtab(connection, module.kind.declaration)
        guard code == SQLITE_OK else { return code }
        let table = UnsafeMutablePointer<csqlite_table>.allocate(capacity: 1)
        table.initialize(to: csqlite_table(base: sqlite3_vtab(), module: context))
        result.pointee = UnsafeMutableRawPointer(table).assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    }

    private static func disconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> CInt {
        if let table { UnsafeMutableRawPointer(table).assumingMemoryBound(to: csqlite_table.self).deallocate() }
        return SQLITE_OK
    }

    private static func module(_ table: UnsafeMutablePointer<sqlite3_vtab>) -> Module {
        let table = UnsafeMutableRawPointer(table).assumingMemoryBound(to: csqlite_table.self)
        return Unmanaged<Module>.fromOpaque(table.pointee.module).takeUnretainedValue()
    }

    /// Passes the hidden columns, in their order, to `filter`.
    private static func bestIndex(
        _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ info: UnsafeMutablePointer<sqlite3_index_info>?
    ) -> CInt {
        guard let table, let info else { return SQLITE_MISUSE }
        let first = CInt(module(table).kind.columnCount)
        for index in 0..<Int(info.pointee.nConstraint) {
            let constraint = info.pointee.aConstraint[index]
            guard constraint.iColumn >= first else { continue }
            guard constraint.usable != 0, CInt(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else {
                return SQLITE_CONSTRAINT
            }
            info.pointee.aConstraintUsage[index].argvIndex = constraint.iColumn - first + 1
            info.pointee.aConstraintUsage[index].omit = 1
        }
        info.pointee.estimatedCost = 1
        return SQLITE_OK
    }

    private static func open(
        _ table: UnsafeMutablePointer<sqlite3_vtab>?,
        _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
    ) -> CInt {
        let cursor = UnsafeMutablePointer<csqlite_table_cursor>.allocate(capacity: 1)
        cursor.initialize(
            to: csqlite_table_cursor(base: sqlite3_vtab_cursor(), rows: Unmanaged.passRetained(Rows()).toOpaque()))
        result?.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
        return SQLITE_OK
    }

    private static func rows(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Rows {
        guard let cursor else { return Rows() }
        let pointer = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: csqlite_table_cursor.self)
        return Unmanaged<Rows>.fromOpaque(pointer.pointee.rows).takeUnretainedValue()
    }

    private static func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt {
        guard let cursor else { return SQLITE_OK }
        let pointer = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: csqlite_table_cursor.self)
        let rows = Unmanaged<Rows>.fromOpaque(pointer.pointee.rows).takeRetainedValue()
        rows.close()
        pointer.deallocate()
        return SQLITE_OK
    }

    /// Runs the statement.
    private static func filter(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ count: CInt,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> CInt {
        guard let cursor, let table = cursor.pointee.pVtab, let values, count >= 2, let first = values[0],
            let second = values[1], case .string(let sql)? = ValueCalls.value(first)?.rawStorage
        else { return SQLITE_MISUSE }
        let rows = rows(cursor)
        rows.close()
        let module = module(table)
        do throws(DatabaseError) {
            let arguments = count > 2 ? module.client.pendingArguments : []
            module.client.pendingArguments = []
            switch module.kind {
            case .query(let columnCount), .returning(let columnCount):
                var isReadonly = false
                if case .query = module.kind { isReadonly = true }
                let remote = try module.client.rows(of: sql, arguments, isReadonly: isReadonly)
                rows.rows = remote
                guard remote.columnCount >= columnCount,
                    fingerprint((0..<columnCount).lazy.map(remote.columnName)) == sqlite3_value_int64(second)
                else {
                    rows.close()
                    throw DatabaseError(
                        resultCode: .SQLITE_SCHEMA,
                        message: "the columns of this statement have changed since it was prepared: prepare it again")
                }
            case .execution:
                try module.client.execute(sql, arguments)
            case .changes: return SQLITE_MISUSE
            }
        } catch {
            return report(error, table)
        }
        return next(cursor)
    }

    private static func next(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> CInt {
        guard let cursor, let table = cursor.pointee.pVtab else { return SQLITE_MISUSE }
        let rows = rows(cursor)
        guard let remote = rows.rows else {
            rows.isAtEnd = true
            return SQLITE_OK
        }
        do throws(DatabaseError) {
            rows.isAtEnd = try !remote.next()
            return SQLITE_OK
        } catch {
            rows.isAtEnd = true
            return report(error, table)
        }
    }

    private static func column(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ index: CInt
    ) -> CInt {
        let rows = rows(cursor)
        guard let remote = rows.rows else { return SQLITE_MISUSE }
        remote.withValue(Int(index)) { value in
            switch value {
            case .null: sqlite3_result_null(context)
            case .integer(let value): sqlite3_result_int64(context, value)
            case .real(let value): sqlite3_result_double(context, value)
            case .text(let bytes):
                let text = bytes.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
                if let text, !bytes.isEmpty {
                    sqlite3_result_text64(context, text, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
                } else {
                    sqlite3_result_text64(context, "", 0, transient, UInt8(SQLITE_UTF8))
                }
            case .blob(let bytes):
                if bytes.isEmpty {
                    sqlite3_result_zeroblob(context, 0)
                } else {
                    sqlite3_result_blob64(context, bytes.baseAddress, UInt64(bytes.count), transient)
                }
            }
        }
        return SQLITE_OK
    }

    /// SQLite copies the bytes: <https://www.sqlite.org/c3ref/c_static.html>.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Gives the message to SQLite, and returns the code.
    private static func report(_ error: DatabaseError, _ table: UnsafeMutablePointer<sqlite3_vtab>) -> CInt {
        sqlite3_free(table.pointee.zErrMsg)
        table.pointee.zErrMsg = nil
        let bytes = Array((error.message ?? "").utf8)
        if let copy = sqlite3_malloc64(UInt64(bytes.count + 1)) {
            let text = copy.assumingMemoryBound(to: UInt8.self)
            for (index, byte) in bytes.enumerated() { text[index] = byte }
            text[bytes.count] = 0
            table.pointee.zErrMsg = copy.assumingMemoryBound(to: CChar.self)
        }
        return error.extendedResultCode.rawValue
    }
}
