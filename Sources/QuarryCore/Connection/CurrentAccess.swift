/// The access that has the connection: how it is cancelled, what its statements must not do, and the error that its end
/// throws.
///
/// Its methods are the transitions. Methods that come in pairs nest.
struct CurrentAccess {
    /// How the access is cancelled.
    enum Cancellation {
        /// It can't be.
        case none
        /// With the task that runs it, on whose thread it stays: the task is asked.
        case task
        /// From any thread, by a token, which interrupts the connection, too.
        case token(AccessToken)
    }

    /// Another number for each access.
    private(set) var number = 0

    private var cancellation = Cancellation.none

    /// Whether a progress handler asks, while statements run, if the access is cancelled: from the first access on that
    /// can be.
    private var isWatched = false

    private var ignoringDepth = 0

    /// Whether the token is kept from interrupting the connection.
    private var isShielded = false

    private var readOnlyDepth = 0
    private var sealDepth = 0

    /// Whether a lock that another connection has is an error at once: the access must not wait where it runs.
    var refusesToWait = false

    /// The error that the end of the access throws: that of a method that can't throw, or of a change whose cursor was
    /// left before its end.
    private(set) var error: (any Error)?

    // MARK: - Begin and end

    /// Begins an access, which nothing cancels yet.
    ///
    /// - parameter error: an error that was left for it.
    mutating func begin(error: (any Error)?) {
        number &+= 1
        self.error = error
    }

    /// Lets the access be cancelled.
    ///
    /// - returns: whether a progress handler must be set, which asks `isCancelled`: once for a connection.
    mutating func follow(_ cancellation: Cancellation) -> Bool {
        self.cancellation = cancellation
        defer { isWatched = true }
        return !isWatched
    }

    /// Ends what `follow` began: the access ends, or goes to another thread.
    ///
    /// - returns: the token that has cancelled it until now, and must forget the connection.
    mutating func unfollow() -> AccessToken? {
        defer { cancellation = .none }
        guard case .token(let token) = cancellation else { return nil }
        return token
    }

    /// Keeps an error for the end of the access, which throws the first one.
    ///
    /// - returns: whether it is the first.
    @discardableResult
    mutating func note(_ error: any Error) -> Bool {
        guard self.error == nil else { return false }
        self.error = error
        return true
    }

    /// Takes the error out: it is thrown.
    mutating func takeError() -> (any Error)? { error.take() }

    // MARK: - Cancellation

    /// Whether the access may be cancelled some time.
    var canBeCancelled: Bool {
        if case .none = cancellation { false } else { true }
    }

    /// Whether the access is cancelled, and doesn't ignore that.
    @inline(__always)
    var isCancelled: Bool {
        // Inlined, because a call would retain what the value refers to.
        switch cancellation {
        case .none: false
        case .task: ignoringDepth == 0 && Task.isCancelled
        case .token(let token): ignoringDepth == 0 && token.isCancelled
        }
    }

    /// Whether cancellation is ignored: a rollback has to run.
    @inline(__always)
    var ignoresCancellation: Bool { ignoringDepth > 0 }

    /// Ignores cancellation, until `heedCancellation`.
    ///
    /// - parameter shields: whether the token must not interrupt the connection meanwhile, either.
    /// - returns: the token that would, if nothing keeps it from that yet: it must forget the connection.
    mutating func ignoreCancellation(shields: Bool) -> AccessToken? {
        ignoringDepth += 1
        guard shields, !isShielded, case .token(let token) = cancellation else { return nil }
        isShielded = true
        return token
    }

    /// Ends what `ignoreCancellation` began.
    ///
    /// - parameter endsShield: whether that gave a token, which knows the connection again.
    mutating func heedCancellation(endsShield: Bool) {
        ignoringDepth -= 1
        if endsShield { isShielded = false }
    }

    // MARK: - Writing

    /// Whether statements that may write throw.
    @inline(__always)
    var isReadOnly: Bool { readOnlyDepth > 0 }

    /// Whether statements that begin or end transactions throw, too.
    @inline(__always)
    var isSealed: Bool { sealDepth > 0 }

    mutating func beginReadOnly() { readOnlyDepth += 1 }

    mutating func endReadOnly() { readOnlyDepth -= 1 }

    /// Lets nothing be written, and no transaction begin or end: SQLite calls a collation or a tokenizer in the midst
    /// of work on pages or on the schema, and reads what such a statement would free.
    mutating func seal() {
        sealDepth += 1
        readOnlyDepth += 1
    }

    /// Ends what `seal` began.
    mutating func unseal() {
        sealDepth -= 1
        readOnlyDepth -= 1
    }
}
