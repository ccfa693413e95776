import CSQLite

/// The functions that extend FTS5: <https://www.sqlite.org/fts5.html#extending_fts5>.
struct FTS5API {
    private let pointer: UnsafeMutablePointer<fts5_api>

    /// Asks the connection for the functions. The corresponding C functions are `fts5()` of SQL, and
    /// `sqlite3_bind_pointer`.
    init(_ connection: SQLiteConnection) throws(DatabaseError) {
        var statement: OpaquePointer?
        var api: UnsafeMutablePointer<fts5_api>?
        var code = sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        if code == SQLITE_OK {
            // SQLite keeps the address of the type's name: https://www.sqlite.org/c3ref/bind_blob.html
            let type: StaticString = "fts5_api_ptr"
            let name = UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
            withUnsafeMutablePointer(to: &api) { place in
                code = sqlite3_bind_pointer(statement, 1, place, name, nil)
                if code == SQLITE_OK { code = sqlite3_step(statement) }
            }
        }
        guard let api else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code == SQLITE_ROW ? SQLITE_ERROR : code),
                message: "could not reach FTS5: \(ConnectionCalls.errorMessage(connection))")
        }
        pointer = api
    }

    /// Adds a tokenizer, which FTS5 releases when the connection closes. The corresponding C function is
    /// `xCreateTokenizer`.
    func add(_ registration: TokenizerRegistration) -> CInt {
        let context = Unmanaged.passRetained(registration).toOpaque()
        var functions = fts5_tokenizer(
            xCreate: { TokenizerThunks.create($0, $1, $2, $3) }, xDelete: { TokenizerThunks.delete($0) },
            xTokenize: { TokenizerThunks.tokenize($0, $1, $2, $3, $4, $5) })
        let code =
            pointer.pointee.xCreateTokenizer?(pointer, registration.name, context, &functions) { context in
                if let context { Unmanaged<TokenizerRegistration>.fromOpaque(context).release() }
            } ?? SQLITE_MISUSE
        // If this fails, FTS5 releases nothing.
        if code != SQLITE_OK { Unmanaged<TokenizerRegistration>.fromOpaque(context).release() }
        return code
    }

    /// Adds an auxiliary function, which FTS5 releases when the connection closes. The corresponding C function is
    /// `xCreateFunction`.
    func add(_ registration: FTS5FunctionRegistration) -> CInt {
        let context = Unmanaged.passRetained(registration).toOpaque()
        let code =
            pointer.pointee.xCreateFunction?(
                pointer, registration.function.name, context, { FTS5Match.call($0, $1, $2, $3, $4) },
                { context in
                    if let context { Unmanaged<FTS5FunctionRegistration>.fromOpaque(context).release() }
                }) ?? SQLITE_MISUSE
        if code != SQLITE_OK { Unmanaged<FTS5FunctionRegistration>.fromOpaque(context).release() }
        return code
    }

    /// The functions of a registered tokenizer. The corresponding C function is `xFindTokenizer`.
    fileprivate func find(_ name: String) -> (functions: fts5_tokenizer, context: UnsafeMutableRawPointer?)? {
        var functions = fts5_tokenizer()
        var context: UnsafeMutableRawPointer?
        guard pointer.pointee.xFindTokenizer?(pointer, name, &context, &functions) == SQLITE_OK else { return nil }
        return (functions, context)
    }
}

/// Owns an instance of a tokenizer.
struct TokenizerHandle: ~Copyable {
    private let functions: fts5_tokenizer
    private let pointer: OpaquePointer?

    /// Makes an instance of a registered tokenizer. The corresponding C function is `xCreate`.
    ///
    /// - parameter components: the name and the arguments.
    /// - throws: `DatabaseError` if there is no such tokenizer, or if it rejects its arguments.
    init(_ api: FTS5API, components: [String]) throws(DatabaseError) {
        guard let name = components.first else { throw DatabaseError.misuse("a tokenizer has no name") }
        if let text = components.first(where: { $0.utf8.contains(0) }) {
            throw DatabaseError.misuse(
                "the arguments of a tokenizer have a NUL character: \(String(reflecting: text))")
        }
        guard let (functions, context) = api.find(name) else {
            throw DatabaseError(message: "no such tokenizer: \(name)")
        }
        var texts: [UnsafePointer<CChar>?] = components.dropFirst().map { text in
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
            for (index, byte) in text.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
            copy[text.utf8.count] = 0
            return UnsafePointer(copy)
        }
        defer { for text in texts { text?.deallocate() } }
        var pointer: OpaquePointer?
        TokenizerFailure.forget()
        let count = CInt(texts.count)
        let code = texts.withUnsafeMutableBufferPointer { texts in
            functions.xCreate?(context, texts.baseAddress, count, &pointer) ?? SQLITE_MISUSE
        }
        guard code == SQLITE_OK else {
            if let failure = TokenizerFailure.take(), failure.returnedCode == code {
                throw DatabaseError(resultCode: failure.code, message: failure.message)
            }
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: "error in tokenizer constructor: \(components.joined(separator: " "))")
        }
        self.functions = functions
        self.pointer = pointer
    }

    /// The corresponding C function is `xTokenize`.
    func tokenize(
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ text: UnsafePointer<CChar>?, _ count: CInt,
        _ callback: @escaping FTS5TokenCallback
    ) -> CInt {
        // Some tokenizers take a null pointer for a missing text.
        guard let text else { return functions.xTokenize?(pointer, context, flags, "", 0, callback) ?? SQLITE_MISUSE }
        return functions.xTokenize?(pointer, context, flags, text, count, callback) ?? SQLITE_MISUSE
    }

    deinit { functions.xDelete?(pointer) }
}

/// Receives the tokens of a tokenizer in Swift, and checks them before FTS5 gets them.
///
/// `highlight` and `snippet` of FTS5 read the text at the positions that a tokenizer has reported, without checking
/// them.
private struct TokenTarget {
    let context: UnsafeMutableRawPointer?
    let callback: FTS5TokenCallback
    let textCount: CInt
    private(set) var hasRefused = false

    init(context: UnsafeMutableRawPointer?, callback: @escaping FTS5TokenCallback, textCount: CInt) {
        self.context = context
        self.callback = callback
        self.textCount = textCount
    }

    static var error: DatabaseError {
        .misuse("a tokenizer has reported a token outside its text")
    }

    static func take(
        _ target: UnsafeMutableRawPointer?, _ flags: CInt, _ token: UnsafePointer<CChar>?, _ count: CInt,
        _ start: CInt, _ end: CInt
    ) -> CInt {
        guard let target = target?.assumingMemoryBound(to: TokenTarget.self) else { return SQLITE_MISUSE }
        guard 0 <= start, start <= end, end <= target.pointee.textCount, count >= 0, token != nil || count == 0 else {
            return target.pointee.refuse(start, end)
        }
        return target.pointee.callback(target.pointee.context, flags, token, count, start, end)
    }

    @inline(never)
    private mutating func refuse(_ start: CInt, _ end: CInt) -> CInt {
        hasRefused = true
        return TokenizerFailure.note(
            DatabaseError.misuse(
                "a tokenizer has reported a token at bytes \(start)..<\(end) of a text of \(textCount) bytes"))
    }
}

/// The functions that FTS5 calls for a tokenizer written in Swift.
private enum TokenizerThunks {
    /// An instance of a tokenizer, whose pointer FTS5 holds.
    private final class Instance {
        let tokenizer: any FTS5Tokenizer
        /// Weak: an instance made with `makeTokenizer` may outlive the connection.
        private(set) weak var database: Database?

        init(_ tokenizer: any FTS5Tokenizer, _ database: Database) {
            self.tokenizer = tokenizer
            self.database = database
        }
    }

    static func create(
        _ context: UnsafeMutableRawPointer?, _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ count: CInt,
        _ result: UnsafeMutablePointer<OpaquePointer?>?
    ) -> CInt {
        guard let context, let result else { return SQLITE_MISUSE }
        let registration = Unmanaged<TokenizerRegistration>.fromOpaque(context).takeUnretainedValue()
        TokenizerFailure.forget()
        guard let database = registration.database else { return SQLITE_MISUSE }
        do {
            let arguments = (0..<Int(count)).map { arguments?[$0].map { String(cString: $0) } ?? "" }
            // FTS5 is in the middle of creating or opening its table.
            let tokenizer = try database.sealed { try registration.make(database, arguments) }
            result.pointee = OpaquePointer(Unmanaged.passRetained(Instance(tokenizer, database)).toOpaque())
            return SQLITE_OK
        } catch {
            let code = TokenizerFailure.note(error)
            database.tokenizerDidFail(code)
            return code
        }
    }

    static func delete(_ pointer: OpaquePointer?) {
        if let pointer { Unmanaged<Instance>.fromOpaque(UnsafeRawPointer(pointer)).release() }
    }

    static func tokenize(
        _ pointer: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ text: UnsafePointer<CChar>?,
        _ count: CInt, _ callback: FTS5TokenCallback?
    ) -> CInt {
        guard let pointer, let callback else { return SQLITE_MISUSE }
        return Unmanaged<Instance>.fromOpaque(UnsafeRawPointer(pointer))._withUnsafeGuaranteedRef { instance in
            let database = instance.database
            TokenizerFailure.forget()
            // FTS5 is in the middle of a row: another row of the same table would receive its tokens.
            database?.access.seal()
            var target = TokenTarget(context: context, callback: callback, textCount: text == nil ? 0 : count)
            var code = withUnsafeMutablePointer(to: &target) { target in
                instance.tokenizer.tokenize(
                    context: target, tokenization: FTS5Tokenization(rawValue: flags), pText: text, nText: count,
                    tokenCallback: { TokenTarget.take($0, $1, $2, $3, $4, $5) })
            }
            database?.access.unseal()
            // A tokenizer may continue after a token that was refused.
            if target.hasRefused, code == SQLITE_OK { code = TokenizerFailure.note(TokenTarget.error) }
            if code != SQLITE_OK, let database {
                let isOfDocument = FTS5Tokenization(rawValue: flags).contains(.document)
                if isOfDocument, ConnectionCalls.isWriting(database.pointer) {
                    code = TokenizerFailure.noteHalfDone(code)
                }
                database.tokenizerDidFail(code)
            }
            return code
        }
    }
}
