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
    /// The other versions that the sheet of a package lists.
    public var versionCount = 50
    /// The time that a read may take, the wait for a connection included; after it the request is refused with 503.
    public var readTime = Duration.seconds(2)
    /// The duration from which on a statement is logged with its plan.
    public var slowStatement = Duration.milliseconds(200)
    /// The accesses that may wait for a connection; further ones are refused with 503.
    public var waiters = 1_000
    /// The time that the check of the writer may take.
    public var healthTime = Duration.seconds(1)

    /// The bytes of a control file; longer ones are refused with 413, or end with the event `failed`.
    public var importLength = 1 << 30
    /// The time in which a control file's first package must come; after it the request is refused with 408.
    public var beginningTime = Duration.seconds(20)
    /// The imports that run at the same time.
    public var importCount = 4
    /// The time that an import may take.
    public var importTime = Duration.seconds(3600)
    /// The bytes of a control file that must come while an import waits for `bodyTime`; after it the import fails.
    public var bodyLength = 100_000
    /// The time that an import waits for `bodyLength` bytes.
    public var bodyTime = Duration.seconds(30)
    /// The time that running imports are given when the server shuts down.
    public var importGrace = Duration.seconds(2)
    /// The time after which a file of `CatalogService.imports` is tried again, while clients import.
    public var importPause = Duration.seconds(1)
    /// The malformed stanzas that an answer shows.
    public var skippedCount = 100

    /// The clients of `GET /events`.
    public var eventClients = 4_000
    /// The events that wait for a client; one that is slower is disconnected.
    public var eventBuffer = 64
    /// The time between two events of the same kind.
    public var eventPause = Duration.milliseconds(250)
    /// The time between two comments that keep a stream open.
    public var keepAlive = Duration.seconds(15)

    /// The descriptors that are kept for the database, imports and backups; others are for connections.
    public var otherDescriptors = 64
    /// The time after which a connection is closed that sends nothing of its request.
    public var idleTime = Duration.seconds(30)
    /// The time in which a client must read what fills the buffers of its connection; after it this is closed.
    public var answerTime = Duration.seconds(60)
    /// The same, when the server shuts down.
    public var answerGrace = Duration.seconds(3)
    /// The time after which a connection is closed whose client goes on with a body that was refused.
    public var refusedTime = Duration.seconds(1)
    /// The time for a shutdown.
    public var gracePeriod = Duration.seconds(10)

    public init() {}
}
