/// What FTS5 calls for each token: the context it gave, flags, the token, its length in bytes, and where it begins and
/// ends in the text, in bytes. The result is SQLite's code; any other than `SQLITE_OK` ends the tokenization.
///
/// See <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public typealias FTS5TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt,
        _ iStart: CInt, _ iEnd: CInt
    ) -> CInt

/// Why FTS5 wants the tokens of a text: <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public struct FTS5Tokenization: OptionSet, Sendable {
    /// `FTS5_TOKENIZE_*` as bits.
    public let rawValue: CInt

    /// A set of bits.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The text is a part of a pattern.
    public static let query = FTS5Tokenization(rawValue: 0x0001)

    /// Besides `query`: the last token is a prefix.
    public static let prefix = FTS5Tokenization(rawValue: 0x0002)

    /// The text is stored, or removed.
    public static let document = FTS5Tokenization(rawValue: 0x0004)

    /// The text is given to an auxiliary function, such as `highlight`.
    public static let aux = FTS5Tokenization(rawValue: 0x0008)
}

/// What a tokenizer says of a token.
public struct FTS5TokenFlags: OptionSet, Sendable {
    /// `FTS5_TOKEN_*` as bits.
    public let rawValue: CInt

    /// A set of bits.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The token stands in the same place as the one before: a synonym.
    public static let colocated = FTS5TokenFlags(rawValue: 0x0001)
}

/// Splits texts into tokens.
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
    /// - parameter context: what `tokenCallback` gets.
    /// - parameter tokenization: what the tokens are for.
    /// - parameter pText: UTF-8, which may be wrong where the database has such text.
    /// - parameter nText: its length in bytes.
    /// - parameter tokenCallback: called for each token. It answers `SQLITE_MISUSE` for a token whose place is outside
    ///   of the text.
    /// - returns: `SQLITE_OK`, or what `tokenCallback` has returned, or the code of an error.
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt
}

extension FTS5Tokenizer {
    /// The tokens of a text that is stored.
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

    /// The tokens of a text, with their places.
    package func tokens(of string: String, for tokenization: FTS5Tokenization) throws -> [FTS5Token] {
        var tokens: [FTS5Token] = []
        var string = string
        TokenizerFailure.forget()
        let code = string.withUTF8 { text in
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

/// A token, and where it stands in its text.
package struct FTS5Token {
    package var text: String
    package var flags: FTS5TokenFlags
    /// Where it begins, in bytes of UTF-8.
    package var start: Int
    /// Where it ends.
    package var end: Int
}

/// A tokenizer of FTS5 that is written in Swift.
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
/// Each table of each connection has an instance, which is gone with the connection, or earlier. While it finds tokens,
/// it may read other tables; what writes throws `SQLITE_READONLY`.
public protocol FTS5CustomTokenizer: FTS5Tokenizer {
    /// The name in SQL.
    static var name: String { get }

    /// A tokenizer with the arguments that stand behind its name where a table is created.
    ///
    /// What it throws is thrown by the statement that needs the tokenizer, with its code and message.
    ///
    /// - parameter db: the connection. It must not be kept.
    /// - parameter arguments: the arguments.
    init(db: Database, arguments: [String]) throws
}

/// A tokenizer that finds the tokens of a text itself.
///
/// ```swift
/// /// Words are what stands between spaces.
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
    /// Adds each token of a text, in their order.
    ///
    /// The statement throws its error, with the same code and message. Where the text is stored or removed, FTS5
    /// has half of a row then, and SQLite rolls back, as it does when one of its own tokenizers finds no memory: the
    /// statement, if it is one that writes several rows, such as one with triggers; otherwise the transaction, whose
    /// later statements throw `SQLITE_ABORT`. See
    /// <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>.
    ///
    /// - parameter text: UTF-8, which may be wrong where the database has such text.
    /// - parameter tokenization: what the tokens are for.
    /// - parameter tokens: takes the tokens. What its methods throw must be thrown.
    func tokenize(
        _ text: UnsafeBufferPointer<UInt8>, for tokenization: FTS5Tokenization, into tokens: borrowing FTS5TokenSink
    ) throws
}

extension FTS5TextTokenizer {
    /// Adds the tokens that the tokenizer finds.
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

/// Takes the tokens of a text.
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

    /// What ended the tokenization, if something did.
    var code: CInt { stop.code }

    /// Adds a token. An empty one is left out: nothing would find it.
    ///
    /// - parameter token: the token.
    /// - parameter range: where it stands in the text, in bytes of UTF-8. A place outside of the text ends the
    ///   tokenization with `SQLITE_MISUSE`.
    /// - parameter flags: `.colocated` for a synonym of the token before.
    /// - throws: what ends the tokenization; pass it on.
    public func add(_ token: String, range: Range<Int>, flags: FTS5TokenFlags = []) throws {
        var token = token
        try token.withUTF8 { try add(utf8: $0, range: range, flags: flags) }
    }

    /// Adds a token. An empty one is left out: nothing would find it.
    ///
    /// - parameter utf8: the token.
    /// - parameter range: where it stands in the text, in bytes. A place outside of the text ends the tokenization with
    ///   `SQLITE_MISUSE`.
    /// - parameter flags: `.colocated` for a synonym of the token before.
    /// - throws: what ends the tokenization; pass it on.
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

/// FTS5 wants no more tokens.
struct TokenizationEnd: Error {}
