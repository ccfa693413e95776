internal import HTTPTypes

/// A request that makes no sense, asks for a thing that doesn't exist, or has to come again later: a status, and a
/// sentence for people.
struct RequestError: Error, Equatable {
    var status: HTTPResponse.Status
    var sentence: String
    /// Whether the connection is closed after the answer, because a body comes that won't be read.
    var closesConnection = false

    static func noPackage(_ name: String) -> RequestError {
        RequestError(status: .notFound, sentence: "There is no package \(name.excerpt).")
    }

    static func noPage(_ page: Int, of count: Int) -> RequestError {
        RequestError(
            status: .notFound,
            sentence: count == 1
                ? "There is no page \(page): there is one page."
                : "There is no page \(page): there are \(count) pages.")
    }

    static func bad(_ sentence: String) -> RequestError { RequestError(status: .badRequest, sentence: sentence) }
}

extension StringProtocol {
    /// Quoted and escaped for a sentence, which shows no more of a long text than one can read.
    ///
    /// Scalars are counted, because one character has as many combining marks as a text likes.
    var excerpt: String {
        let shown = String(String.UnicodeScalarView(unicodeScalars.prefix(60)))
        return shown.utf8.count < utf8.count ? shown.debugDescription + "…" : shown.debugDescription
    }
}
