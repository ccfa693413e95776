import CSQLite

/// A row that a full-text query has found, passed to an auxiliary function.
///
/// Phrases are the parts of the query's pattern: words and quoted texts. Phrases and columns are numbered from 0. See
/// <https://www.sqlite.org/fts5.html#custom_auxiliary_functions>.
public struct FTS5Match: ~Copyable {
    private let api: Fts5ExtensionApi
    private let context: OpaquePointer
    private let registration: FTS5FunctionRegistration

    /// The arguments after the table's name in the call.
    public let arguments: [DatabaseValue]

    /// An occurrence of a phrase of the query.
    public struct Instance: Hashable, Sendable {
        /// The number of the phrase.
        public var phrase: Int
        /// The number of the column.
        public var column: Int
        /// The number of tokens before the occurrence in the column.
        public var offset: Int
    }

    private init(
        _ api: Fts5ExtensionApi, _ context: OpaquePointer, _ registration: FTS5FunctionRegistration,
        _ arguments: [DatabaseValue]
    ) {
        self.api = api
        self.context = context
        self.registration = registration
        self.arguments = arguments
    }

    /// Called by FTS5. The corresponding C function is `fts5_extension_function`.
    static func call(
        _ api: UnsafePointer<Fts5ExtensionApi>?, _ context: OpaquePointer?, _ result: OpaquePointer?, _ count: CInt,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let api = api?.pointee, let context, let function = api.xUserData?(context) else { return }
        let registration = Unmanaged<FTS5FunctionRegistration>.fromOpaque(function).takeUnretainedValue()
        do {
            var arguments = FunctionArguments()
            let match = FTS5Match(api, context, registration, try arguments.take(count, values))
            try FunctionResult.set(registration.function.body(match), result)
        } catch {
            FunctionResult.setError(error, result)
        }
    }

    // MARK: - The row

    /// The rowid. The corresponding C function is `xRowid`.
    public var rowID: Int64 { api.xRowid?(context) ?? 0 }

    /// The number of columns of the table. The corresponding C function is `xColumnCount`.
    public var columnCount: Int { Int(api.xColumnCount?(context) ?? 0) }

    /// The text of a column; empty if the table stores no text. The corresponding C function is `xColumnText`.
    ///
    /// - throws: `SQLITE_RANGE` if there is no such column; `DatabaseError` if the text can't be read.
    public func columnText(_ column: Int) throws -> String {
        try check(column: column)
        var text: UnsafePointer<CChar>?
        var count: CInt = 0
        try check(api.xColumnText?(context, CInt(column), &text, &count))
        return String(decoding: UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(count)), as: UTF8.self)
    }

    /// The number of tokens of a column, or of all. The corresponding C function is `xColumnSize`.
    ///
    /// - parameter column: the number of the column; nil for all.
    /// - throws: `SQLITE_RANGE` if there is no such column; `DatabaseError` if the size can't be read.
    public func columnSize(_ column: Int? = nil) throws -> Int {
        if let column { try check(column: column) }
        var size: CInt = 0
        try check(api.xColumnSize?(context, CInt(column ?? -1), &size))
        return Int(size)
    }

    // MARK: - The table

    /// The number of rows of the table. The corresponding C function is `xRowCount`.
    ///
    /// - throws: `DatabaseError` if the count can't be read.
    public func rowCount() throws -> Int {
        var count: Int64 = 0
        try check(api.xRowCount?(context, &count))
        return Int(count)
    }

    /// The number of tokens of a column in all rows, or of all columns. The corresponding C function is
    /// `xColumnTotalSize`.
    ///
    /// - parameter column: the number of the column; nil for all.
    /// - throws: `SQLITE_RANGE` if there is no such column; `DatabaseError` if the size can't be read.
    public func columnTotalSize(_ column: Int? = nil) throws -> Int {
        if let column { try check(column: column) }
        var size: Int64 = 0
        try check(api.xColumnTotalSize?(context, CInt(column ?? -1), &size))
        return Int(size)
    }

    /// The number of rows that contain a phrase of the query; runs a query. The corresponding C function is
    /// `xQueryPhrase`.
    ///
    /// - throws: `SQLITE_RANGE` if there is no such phrase; `DatabaseError` if the query fails.
    public func rowCount(withPhrase phrase: Int) throws -> Int {
        try check(phrase: phrase)
        var count = 0
        let code = withUnsafeMutablePointer(to: &count) { count in
            api.xQueryPhrase?(context, CInt(phrase), count) { _, _, count in
                count?.assumingMemoryBound(to: Int.self).pointee += 1
                return SQLITE_OK
            }
        }
        try check(code)
        return count
    }

    /// The tokens of a text, by the tokenizer of the table. The corresponding C function is `xTokenize`.
    ///
    /// - throws: the tokenizer's error.
    public func tokenize(_ text: String) throws -> [String] {
        var text = text
        var tokens: [String] = []
        TokenizerFailure.forget()
        let code = withUnsafeMutablePointer(to: &tokens) { tokens in
            text.withUTF8Bytes { text in
                UnsafeRawBufferPointer(text).withMemoryRebound(to: CChar.self) { text in
                    api.xTokenize?(context, text.baseAddress, CInt(clamping: text.count), tokens) {
                        tokens, _, token, count, _, _ in
                        let bytes = UnsafeRawBufferPointer(start: token, count: Int(count))
                        tokens?.assumingMemoryBound(to: [String].self).pointee
                            .append(String(decoding: bytes, as: UTF8.self))
                        return SQLITE_OK
                    }
                }
            }
        }
        // The auxiliary function decides how to handle the error.
        if let code, code != SQLITE_OK { registration.database?.tokenizerFailure = nil }
        try check(code)
        return tokens
    }

    // MARK: - The query

    /// The number of phrases of the query. The corresponding C function is `xPhraseCount`.
    public var phraseCount: Int { Int(api.xPhraseCount?(context) ?? 0) }

    /// The number of tokens of a phrase. The corresponding C function is `xPhraseSize`.
    ///
    /// - throws: `SQLITE_RANGE` if there is no such phrase.
    public func phraseSize(_ phrase: Int) throws -> Int {
        try check(phrase: phrase)
        return Int(api.xPhraseSize?(context, CInt(phrase)) ?? 0)
    }

    /// The number of occurrences of phrases in the row. The corresponding C function is `xInstCount`.
    ///
    /// - throws: `DatabaseError` if the occurrences can't be read.
    public func instanceCount() throws -> Int {
        var count: CInt = 0
        try check(api.xInstCount?(context, &count))
        return Int(count)
    }

    /// An occurrence of a phrase in the row. The corresponding C function is `xInst`.
    ///
    /// - parameter index: less than `instanceCount()`, in the order of columns and tokens.
    /// - throws: `SQLITE_RANGE` if there is no such occurrence; `DatabaseError` if it can't be read.
    public func instance(_ index: Int) throws -> Instance {
        guard let index = CInt(exactly: index) else { throw Self.error(SQLITE_RANGE) }
        var phrase: CInt = 0
        var column: CInt = 0
        var offset: CInt = 0
        try check(api.xInst?(context, index, &phrase, &column, &offset))
        return Instance(phrase: Int(phrase), column: Int(column), offset: Int(offset))
    }

    /// The occurrences of phrases in the row, in the order of columns and tokens.
    ///
    /// - throws: `DatabaseError` if the occurrences can't be read.
    public func instances() throws -> [Instance] { try (0..<instanceCount()).map { try instance($0) } }

    // MARK: - What is kept

    private final class Kept {
        let value: Any
        init(_ value: Any) { self.value = value }
    }

    /// A value that is computed once for all rows of the query. The corresponding C functions are `xGetAuxdata` and
    /// `xSetAuxdata`.
    ///
    /// ```swift
    /// let counts = try match.onceForQuery { match in
    ///     try (0..<match.phraseCount).map { try match.rowCount(withPhrase: $0) }
    /// }
    /// ```
    ///
    /// - parameter make: computes the value. A function has one value per query.
    /// - throws: the error of `make`; `DatabaseError` if the value can't be stored.
    public func onceForQuery<Value>(_ make: (borrowing FTS5Match) throws -> Value) throws -> Value {
        if let pointer = api.xGetAuxdata?(context, 0) {
            let kept = Unmanaged<Kept>.fromOpaque(pointer).takeUnretainedValue()
            if let value = kept.value as? Value { return value }
        }
        let value = try make(self)
        let kept = Unmanaged.passRetained(Kept(value)).toOpaque()
        try check(
            api.xSetAuxdata?(context, kept) { kept in
                if let kept { Unmanaged<Kept>.fromOpaque(kept).release() }
            })
        return value
    }

    // MARK: - Errors

    private func check(_ code: CInt?) throws {
        guard let code, code != SQLITE_OK else { return }
        throw Self.error(code)
    }

    private static func error(_ code: CInt) -> DatabaseError { TokenizerFailure.error(for: code) }

    private func check(column: Int) throws {
        guard 0..<columnCount ~= column else {
            throw DatabaseError(
                resultCode: .SQLITE_RANGE, message: "there is no column \(column): the table has \(columnCount)")
        }
    }

    private func check(phrase: Int) throws {
        guard 0..<phraseCount ~= phrase else {
            throw DatabaseError(
                resultCode: .SQLITE_RANGE, message: "there is no phrase \(phrase): the query has \(phraseCount)")
        }
    }
}
