/// The function that receives each token: its context, flags, the token, the token's length in bytes, and the start and
/// end of the token in the text, in bytes. It returns SQLite's code; any code other than `SQLITE_OK` ends the
/// tokenization.
///
/// See <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public typealias FTS5TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt,
        _ iStart: CInt, _ iEnd: CInt
    ) -> CInt

/// The reason that FTS5 tokenizes a text: <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public struct FTS5Tokenization: OptionSet, Sendable {
    /// `FTS5_TOKENIZE_*` as bits.
    public let rawValue: CInt

    /// A set of bits.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The text is a part of a pattern.
    public static let query = FTS5Tokenization(rawValue: 0x0001)

    /// Combined with `query`: the last token is a prefix.
    public static let prefix = FTS5Tokenization(rawValue: 0x0002)

    /// The text is stored or removed.
    public static let document = FTS5Tokenization(rawValue: 0x0004)

    /// The text is an argument of an auxiliary function, such as `highlight`.
    public static let aux = FTS5Tokenization(rawValue: 0x0008)
}

/// The properties of a token.
public struct FTS5TokenFlags: OptionSet, Sendable {
    /// `FTS5_TOKEN_*` as bits.
    public let rawValue: CInt

    /// A set of bits.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The token has the same position as the previous one: a synonym.
    public static let colocated = FTS5TokenFlags(rawValue: 0x0001)
}

/// A tokenizer, which splits texts into tokens.
///
/// ```swift
/// let tokenizer = try db.makeTokenizer(.unicode61())
/// for (token, _) in try tokenizer.tokenize(document: "SQLite à la carte") { print(token) } // sqlite, a, la, carte
/// ```
///
/// To write one, see `FTS5TextTokenizer` and `FTS5WrapperTokenizer`.
public protocol FTS5Tokenizer: AnyObject {
    /// Calls `tokenCallback` for each token of a text.
    ///
    /// This is the function that FTS5 calls: <https://www.sqlite.org/fts5.html#custom_tokenizers>.
    ///
    /// - parameter context: the first argument of `tokenCallback`.
    /// - parameter tokenization: the purpose of the tokens.
    /// - parameter pText: UTF-8, which may be invalid if the database contains such text.
    /// - parameter nText: its length in bytes.
    /// - parameter tokenCallback: called for each token. It returns `SQLITE_MISUSE` for a token that is outside the
    ///   text.
    /// - returns: `SQLITE_OK`, the code returned by `tokenCallback`, or the code of an error.
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt
}

extension FTS5Tokenizer {
    /// The tokens of a text, as if it were stored.
    ///
    /// ```swift
    /// let tokens = try db.makeTokenizer(.porter()).tokenize(document: "Running dogs").map(\.token) // run, dog
    /// ```
    ///
    /// - throws: the tokenizer's error.
    public func tokenize(document string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: string, for: .document).map { ($0.text, $0.flags) }
    }

    /// The tokens of a text in a pattern.
    ///
    /// - throws: the tokenizer's error.
    public func tokenize(query string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: string, for: .query).map { ($0.text, $0.flags) }
    }

    /// The tokens of a text, with their positions.
    package func tokens(of string: String, for tokenization: FTS5Tokenization) throws -> [FTS5Token] {
        var tokens: [FTS5Token] = []
        var string = string
        TokenizerFailure.forget()
        let code = string.withUTF8Bytes { text in
            withUnsafeMutablePointer(to: &tokens) { tokens in
                UnsafeRawBufferPointer(text).withMemoryRebound(to: CChar.self) { text in
                    tokenize(
                        context: tokens, tokenization: tokenization, pText: text.baseAddress,
                        nText: CInt(clamping: text.count)
                    ) { context, flags, token, count, start, end in
                        let bytes = UnsafeRawBufferPointer(start: token, count: Int(count))
                        context?.assumingMemoryBound(to: [FTS5Token].self).pointee.append(
                            FTS5Token(
                                text: String(decoding: bytes, as: UTF8.self), flags: FTS5TokenFlags(rawValue: flags),
                                start: Int(start), end: Int(end)))
                        return ResultCode.SQLITE_OK.rawValue
                    }
                }
            }
        }
        if code != ResultCode.SQLITE_OK.rawValue { throw TokenizerFailure.error(for: code) }
        return tokens
    }
}

/// A token, and its position in its text.
package struct FTS5Token {
    package var text: String
    package var flags: FTS5TokenFlags
    /// The start of the token, in bytes of UTF-8.
    package var start: Int
    /// The end of the token.
    package var end: Int
}

/// A tokenizer of FTS5 written in Swift.
///
/// Conform to `FTS5TextTokenizer` to find tokens in texts, to `FTS5WrapperTokenizer` to change the tokens of another
/// tokenizer.
///
/// ```swift
/// config.prepareDatabase { db in db.add(tokenizer: LatinAsciiTokenizer.self) }
///
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = LatinAsciiTokenizer.tokenizerDescriptor()
///     t.column("content")
/// }
/// ```
///
/// Each table of each connection has an instance, which is released with the connection, or earlier. While it
/// tokenizes, it may read other tables; its writes throw `SQLITE_READONLY`.
public protocol FTS5CustomTokenizer: FTS5Tokenizer {
    /// The name in SQL.
    static var name: String { get }

    /// Makes a tokenizer with the arguments that follow its name in the definition of a table.
    ///
    /// - parameter db: the connection. It must not be kept.
    /// - parameter arguments: the arguments.
    /// - throws: any error: the statement that needs the tokenizer throws it, with its code and message.
    init(db: Database, arguments: [String]) throws
}

/// A tokenizer that splits a text itself.
///
/// ```swift
/// /// Splits texts at spaces.
/// final class SpaceTokenizer: FTS5TextTokenizer {
///     static let name = "space"
///     init(db: Database, arguments: [String]) {}
///     func tokenize(
///         _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
///     ) throws {
///         for word in text.split(separator: UInt8(ascii: " ")) {
///             try tokens.add(utf8: UnsafeBufferPointer(rebasing: word), range: word.startIndex..<word.endIndex)
///         }
///     }
/// }
/// ```
public protocol FTS5TextTokenizer: FTS5CustomTokenizer {
    /// Adds each token of a text, in order.
    ///
    /// If the text is stored or removed when this throws, FTS5 has written half of a row. SQLite then rolls back, as it
    /// does if one of its own tokenizers runs out of memory: it rolls back the statement, if that writes several rows,
    /// such as a statement with triggers; otherwise the transaction, whose later statements throw `SQLITE_ABORT`. See
    /// <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>.
    ///
    /// - parameter text: UTF-8, which may be invalid if the database contains such text.
    /// - parameter tokenization: the purpose of the tokens.
    /// - parameter tokens: receives the tokens. The errors of its methods must be rethrown.
    /// - throws: any error: the statement throws it, with its code and message.
    func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws
}

extension FTS5TextTokenizer {
    /// Adds the tokens of `tokenize(_:for:into:)`.
    public func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        let sink = FTS5TokenSink(context: context, callback: tokenCallback)
        let bytes = UnsafeRawBufferPointer(start: pText, count: pText == nil ? 0 : Int(nText))
        do {
            try bytes.withMemoryRebound(to: UInt8.self) { try tokenize($0, for: tokenization, into: sink) }
            return sink.code
        } catch {
            return sink.code != ResultCode.SQLITE_OK.rawValue ? sink.code : TokenizerFailure.note(error)
        }
    }
}

/// Receives the tokens of a text.
public struct FTS5TokenSink: ~Copyable {
    private let context: UnsafeMutableRawPointer?
    private let callback: FTS5TokenCallback
    private let stop = StopCode()

    private final class StopCode {
        var code = ResultCode.SQLITE_OK.rawValue
    }

    init(context: UnsafeMutableRawPointer?, callback: @escaping FTS5TokenCallback) {
        self.context = context
        self.callback = callback
    }

    /// The code that ended the tokenization, if any.
    var code: CInt { stop.code }

    /// Adds a token. An empty token is left out: no query would find it.
    ///
    /// - parameter token: the token.
    /// - parameter range: the token's position in the text, in bytes of UTF-8. A range outside the text ends the
    ///   tokenization with `SQLITE_MISUSE`.
    /// - parameter flags: `.colocated` for a synonym of the previous token.
    /// - throws: the error that ends the tokenization; rethrow it.
    public func add(_ token: String, range: Range<Int>, flags: FTS5TokenFlags = []) throws {
        var token = token
        try token.withUTF8Bytes { try add(utf8: $0, range: range, flags: flags) }
    }

    /// Adds a token. An empty token is left out: no query would find it.
    ///
    /// - parameter utf8: the token.
    /// - parameter range: the token's position in the text, in bytes. A range outside the text ends the tokenization
    ///   with `SQLITE_MISUSE`.
    /// - parameter flags: `.colocated` for a synonym of the previous token.
    /// - throws: the error that ends the tokenization; rethrow it.
    public func add(utf8 token: UnsafeBufferPointer<UInt8>, range: Range<Int>, flags: FTS5TokenFlags = []) throws {
        guard token.count > 0 else { return }
        let code = UnsafeRawBufferPointer(token).withMemoryRebound(to: CChar.self) { token in
            callback(
                context, flags.rawValue, token.baseAddress, CInt(clamping: token.count),
                CInt(clamping: range.lowerBound), CInt(clamping: range.upperBound))
        }
        guard code != ResultCode.SQLITE_OK.rawValue else { return }
        stop.code = code
        throw TokenizationEnd()
    }
}

/// Thrown when FTS5 needs no more tokens.
struct TokenizationEnd: Error {}
