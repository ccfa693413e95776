/// The function that a wrapper tokenizer calls for each token that it emits.
public typealias FTS5WrapperTokenCallback = (_ token: String, _ flags: FTS5TokenFlags) throws -> Void

/// A tokenizer that changes the tokens of another one: synonyms, stop words, other letters.
///
/// ```swift
/// final class SynonymTokenizer: FTS5WrapperTokenizer {
///     static let name = "synonyms"
///     let wrappedTokenizer: any FTS5Tokenizer
///
///     init(db: Database, arguments: [String]) throws {
///         wrappedTokenizer = try db.makeTokenizer(.unicode61())
///     }
///
///     func accept(
///         token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
///         tokenCallback: FTS5WrapperTokenCallback
///     ) throws {
///         if ["the", "a"].contains(token) { return }
///         try tokenCallback(token, flags)
///         if tokenization.contains(.document), token == "first" {
///             try tokenCallback("1st", flags.union(.colocated))
///         }
///     }
/// }
/// ```
///
/// Emit synonyms for documents or for queries, not for both: <https://www.sqlite.org/fts5.html#synonym_support>.
public protocol FTS5WrapperTokenizer: FTS5CustomTokenizer {
    /// The tokenizer whose tokens are changed.
    var wrappedTokenizer: any FTS5Tokenizer { get }

    /// Emits a token, changes it, adds others, or drops it.
    ///
    /// - parameter token: a token of `wrappedTokenizer`.
    /// - parameter flags: the token's flags from `wrappedTokenizer`.
    /// - parameter tokenization: the purpose of the tokens.
    /// - parameter tokenCallback: emits a token. Its errors must be rethrown.
    /// - throws: any error: the statement throws it, with its code and message.
    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws
}

extension FTS5WrapperTokenizer {
    /// Passes each token of the wrapped tokenizer to `accept`.
    public func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        var wrapping = TokenWrapping(
            tokenizer: self, tokenization: tokenization,
            sink: FTS5TokenSink(context: context, callback: tokenCallback))
        return withUnsafeMutablePointer(to: &wrapping) { wrapping in
            wrappedTokenizer.tokenize(
                context: wrapping, tokenization: tokenization, pText: pText, nText: nText
            ) { context, flags, token, count, start, end in
                guard let context else { return ResultCode.SQLITE_MISUSE.rawValue }
                let bytes = UnsafeRawBufferPointer(start: token, count: Int(count))
                return context.assumingMemoryBound(to: TokenWrapping.self).pointee.accept(
                    String(decoding: bytes, as: UTF8.self), FTS5TokenFlags(rawValue: flags),
                    Int(start)..<max(Int(start), Int(end)))
            }
        }
    }
}

/// The state of a text's tokenization by a wrapper.
private struct TokenWrapping: ~Copyable {
    let tokenizer: any FTS5WrapperTokenizer
    let tokenization: FTS5Tokenization
    let sink: FTS5TokenSink

    init(tokenizer: any FTS5WrapperTokenizer, tokenization: FTS5Tokenization, sink: consuming FTS5TokenSink) {
        self.tokenizer = tokenizer
        self.tokenization = tokenization
        self.sink = sink
    }

    borrowing func accept(_ token: String, _ flags: FTS5TokenFlags, _ range: Range<Int>) -> CInt {
        do {
            try tokenizer.accept(token: token, flags: flags, for: tokenization) { token, flags in
                try sink.add(token, range: range, flags: flags)
            }
        } catch {
            if sink.code == ResultCode.SQLITE_OK.rawValue { return TokenizerFailure.note(error) }
        }
        return sink.code
    }
}
