extension Database {
    /// Adds a tokenizer for FTS5 to the connection.
    ///
    /// ```swift
    /// config.prepareDatabase { db in db.add(tokenizer: SynonymTokenizer.self) }
    /// ```
    ///
    /// Each connection has its own tokenizers: add them in `prepareDatabase`, so that all readers of a pool have them.
    /// Tables in use keep their tokenizer.
    ///
    /// This doesn't throw. If it fails, the current access throws when it ends: `SQLITE_MISUSE` for a wrong name,
    /// `SQLITE_ERROR` if SQLite lacks FTS5.
    public func add<Tokenizer: FTS5CustomTokenizer>(tokenizer: Tokenizer.Type) {
        failingAccess {
            try checkAccess()
            try checkExtensionName(Tokenizer.name, of: "tokenizer")
            try checkIsLocal("the tokenizer \(Tokenizer.name) in Swift")
            let registration = TokenizerRegistration(name: Tokenizer.name, database: self) { db, arguments in
                try Tokenizer(db: db, arguments: arguments)
            }
            try checkExtension(FTS5API(pointer).add(registration), "could not add tokenizer \(Tokenizer.name)")
        }
    }

    /// Adds an auxiliary function of FTS5 to the connection, in place of one with the same name.
    ///
    /// ```swift
    /// db.add(function: FTS5Function("hits") { match in try match.instanceCount() })
    /// ```
    ///
    /// This doesn't throw. If it fails, the current access throws when it ends: `SQLITE_MISUSE` for a wrong name,
    /// `SQLITE_ERROR` if SQLite lacks FTS5.
    public func add(function: FTS5Function) {
        failingAccess {
            try checkAccess()
            try checkExtensionName(function.name, of: "function")
            try checkIsLocal("the function \(function.name) in Swift")
            let registration = FTS5FunctionRegistration(function, database: self)
            try checkExtension(FTS5API(pointer).add(registration), "could not add function \(function.name)")
        }
    }

    private func checkExtensionName(_ name: String, of kind: String) throws(DatabaseError) {
        guard 1...255 ~= name.utf8.count, !name.utf8.contains(0) else {
            throw DatabaseError.misuse(
                "the name of a \(kind) has 1 to 255 bytes of UTF-8 and no NUL: \(String(reflecting: name))")
        }
    }

    private func checkExtension(_ code: CInt, _ message: @autoclosure () -> String) throws(DatabaseError) {
        guard code != ResultCode.SQLITE_OK.rawValue else { return }
        throw DatabaseError(
            resultCode: ResultCode(rawValue: code), message: "\(message()): \(SQLiteLibrary.errorString(code))")
    }

    /// Makes an instance of a tokenizer.
    ///
    /// - parameter components: the tokenizer's name, and its arguments.
    package func makeTokenizer(components: [String]) throws -> any FTS5Tokenizer {
        try checkAccess()
        do {
            return NamedTokenizer(try TokenizerHandle(FTS5API(pointer), components: components), database: self)
        } catch {
            // The failure doesn't belong to a statement.
            tokenizerFailure = nil
            throw error
        }
    }
}

/// A tokenizer as registered with one connection. FTS5 keeps it as long as the connection is open.
final class TokenizerRegistration {
    let name: String
    let make: (Database, [String]) throws -> any FTS5Tokenizer
    private(set) weak var database: Database?

    init(name: String, database: Database, make: @escaping (Database, [String]) throws -> any FTS5Tokenizer) {
        self.name = name
        self.database = database
        self.make = make
    }
}

/// An auxiliary function as registered with one connection.
final class FTS5FunctionRegistration {
    let function: FTS5Function
    private(set) weak var database: Database?

    init(_ function: FTS5Function, database: Database) {
        self.function = function
        self.database = database
    }
}

/// A tokenizer that FTS5 knows by a name.
private final class NamedTokenizer: FTS5Tokenizer {
    private let handle: TokenizerHandle
    private weak var database: Database?

    init(_ handle: consuming TokenizerHandle, database: Database) {
        self.handle = handle
        self.database = database
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        let code = handle.tokenize(context, tokenization.rawValue, pText, nText, tokenCallback)
        // The failure doesn't belong to a statement, because FTS5 hasn't made this call: the caller throws.
        if code != ResultCode.SQLITE_OK.rawValue { database?.tokenizerFailure = nil }
        return code
    }
}

extension Database {
    /// Called when a tokenizer that FTS5 has called fails: its message becomes the message of the statement's error.
    func tokenizerDidFail(_ code: CInt) {
        guard let failure = TokenizerFailure.current, failure.returnedCode == code else { return }
        tokenizerFailure = ReportedFailure(failure: failure, accessNumber: access.number)
    }

    /// The tokenizer's failure that made a statement of the current access fail with the given code.
    func takeTokenizerFailure(_ code: CInt) -> CallbackFailure? {
        guard let reported = tokenizerFailure.take(), reported.accessNumber == access.number,
            reported.failure.returnedCode & 0xFF == code & 0xFF
        else { return nil }
        return reported.failure
    }
}
