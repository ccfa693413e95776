/// The bounds of requests.
public struct ServerLimits: Sendable {
    /// The bytes of a path with its query; longer ones are refused with 414.
    public var uriLength = 4096
    /// The bytes of the text to search for; longer ones are refused with 400.
    public var queryLength = 512
    /// The packages on a page.
    public var pageLength = 20
    /// The highest number of a page: SQLite steps over the packages of all pages before.
    public var pageNumber = 10_000
    /// The last depth of a tree of dependencies.
    public var treeDepth = 3
    /// The packages in a tree of dependencies.
    public var treeLength = 300
    /// The time that a read may take, the wait for a connection included; after it the request is refused with 503.
    public var readTime = Duration.seconds(2)

    public init() {}
}
