/// Binds the parameters of a statement's next execution one by one, without collecting the values first.
///
/// Text and blobs are copied into the binder's buffer, which SQLite borrows. This costs less than letting SQLite copy
/// each value: <https://www.sqlite.org/c3ref/c_static.html>.
package final class ParameterBinder {
    private static let capacity = 4096

    /// SQLite copies larger values, which would fill the buffer.
    private static let longestLent = 1024

    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)

    @exclusivity(unchecked)
    private var used = 0

    @exclusivity(unchecked)
    private var statement: SQLiteStatement?

    /// The statement, during an execution.
    package var boundStatement: SQLiteStatement? {
        // A function, because other modules check each read of a field for overlapping accesses.
        @inline(never) get { statement }
    }

    /// Whether an execution uses the binder.
    @exclusivity(unchecked)
    fileprivate var isBusy = false

    /// Whether SQLite has borrowed bytes from the buffer.
    @exclusivity(unchecked)
    fileprivate var lends = false

    /// The first value that couldn't be bound.
    @exclusivity(unchecked)
    fileprivate var failure: (code: CInt, value: DatabaseValue, index: Int)?

    init() {}

    deinit { buffer.deallocate() }

    fileprivate func begin(_ statement: SQLiteStatement) {
        self.statement = statement
        isBusy = true
        lends = false
        used = 0
        failure = nil
    }

    fileprivate func end() {
        statement = nil
        isBusy = false
    }

    // MARK: - Values

    /// Binds NULL.
    package func bindNull(at index: CInt) {
        guard let statement else { return }
        _ = StatementBindings.bindNull(to: statement, at: index)
    }

    /// Binds an integer.
    package func bind(_ value: Int64, at index: CInt) {
        guard let statement else { return }
        _ = StatementBindings.bind(value, to: statement, at: index)
    }

    /// Binds text.
    package func bind(_ value: String, at index: CInt) {
        guard let statement else { return }
        var value = value
        let code = value.withUTF8Bytes { bytes in
            guard let place = reserve(bytes.count) else {
                return StatementBindings.bind(utf8: bytes, to: statement, at: index)
            }
            place.copyMemory(from: UnsafeRawBufferPointer(bytes))
            return StatementBindings.bind(
                text: UnsafeBufferPointer(place.assumingMemoryBound(to: UInt8.self)), to: statement, at: index,
                destructor: nil)
        }
        if code != 0 { fail(code, value.databaseValue, index) }
    }

    /// Binds a blob.
    package func bind(bytes: UnsafeRawBufferPointer, at index: CInt) {
        guard let statement else { return }
        let code: CInt
        if let place = reserve(bytes.count) {
            place.copyMemory(from: bytes)
            code = StatementBindings.bind(
                bytes: UnsafeRawBufferPointer(place), to: statement, at: index, destructor: nil)
        } else {
            code = StatementBindings.bind(bytes: bytes, to: statement, at: index)
        }
        if code != 0 { fail(code, [UInt8](bytes).databaseValue, index) }
    }

    /// Binds text that `write` writes into a buffer. `write` returns the number of bytes.
    ///
    /// - parameter capacity: the size of the buffer, at most 1024 bytes.
    package func bindText(capacity: Int, at index: CInt, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        guard let statement else { return }
        guard let place = reserve(capacity) else {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { place in
                let text = UnsafeBufferPointer(rebasing: place[..<write(place)])
                _ = StatementBindings.bind(utf8: text, to: statement, at: index)
            }
            return
        }
        let bytes = place.assumingMemoryBound(to: UInt8.self)
        let text = UnsafeBufferPointer(rebasing: bytes[..<write(bytes)])
        _ = StatementBindings.bind(text: text, to: statement, at: index, destructor: nil)
    }

    /// Binds a value of any type.
    package func bind<Value: DatabaseValueConvertible>(_ value: Value, at index: CInt) {
        guard let statement else { return }
        let code = value.bind(to: statement, at: index)
        if code != 0 { fail(code, value.databaseValue, index) }
    }

    /// Binds a value of a type known only at run time; nil is NULL.
    package func bind(_ value: (any DatabaseValueConvertible)?, at index: CInt) {
        guard let value else { return bindNull(at: index) }
        // Most values that profit are of this type.
        if type(of: value) == String.self, let text = value as? String { return bind(text, at: index) }
        bind(opening: value, at: index)
    }

    private func bind(opening value: some DatabaseValueConvertible, at index: CInt) { bind(value, at: index) }

    /// Binds a `DatabaseValue`.
    package func bind(_ value: DatabaseValue, at index: CInt) {
        guard let statement else { return }
        switch value.content {
        case .string(let text): bind(text, at: index)
        default:
            let code = StatementBindings.bind(value, to: statement, at: index)
            if code != 0 { fail(code, value, index) }
        }
    }

    private func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        guard count > 0, count <= Self.longestLent, used + count <= Self.capacity else { return nil }
        defer { used += count }
        lends = true
        return UnsafeMutableRawBufferPointer(start: buffer + used, count: count)
    }

    @inline(never)
    private func fail(_ code: CInt, _ value: DatabaseValue, _ index: CInt) {
        if failure == nil { failure = (code, value, Int(index) - 1) }
    }
}

extension Statement {
    /// Runs the statement to the end with parameters that `bind` binds; it must bind all of them.
    ///
    /// Errors show no arguments, because none are kept.
    ///
    /// - parameter bind: returns whether to run the statement.
    /// - returns: the result of `bind`.
    package func execute(binding bind: (ParameterBinder) throws -> Bool) throws -> Bool {
        let database = try lifetime.accessedDatabase()
        // `bind` may run user code, which may run statements.
        let binder = database.parameterBinder.isBusy ? ParameterBinder() : database.parameterBinder
        binder.begin(sqliteStatement)
        defer { binder.end() }
        bound.forget()
        try startExecution(in: database, .call)
        do {
            guard try bind(binder) else {
                stopExecution(database)
                handle.clearBindings()
                return false
            }
            if let (code, value, index) = binder.failure { throw bindingError(code, value, index) }
            // `bind` may have ended the transaction.
            if database.openTransaction.state.isWrapped, !database.openTransaction.state.isInside {
                throw database.abortedTransactionError(sql: sql)
            }
        } catch {
            stopExecution(database)
            handle.clearBindings()
            throw error
        }
        defer { if binder.lends { handle.clearBindings() } }
        try run(database)
        return true
    }
}
