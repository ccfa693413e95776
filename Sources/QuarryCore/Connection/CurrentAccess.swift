/// The access that has the connection: how it is cancelled, which statements it refuses, and the error that its end
/// throws.
///
/// The methods are the transitions. Paired methods nest.
struct CurrentAccess {
    /// How the access is cancelled.
    enum Cancellation {
        /// The access can't be cancelled.
        case none
        /// Cancelled with the task that runs it. The access stays on the task's thread and asks the task.
        case task
        /// Cancelled from any thread, by a token, which also interrupts the connection.
        case token(AccessToken)
        /// Cancelled from any thread, by a token that doesn't interrupt the connection.
        case uninterrupted(AccessToken)
    }

    /// A different number for each access.
    private(set) var number = 0

    private var cancellation = Cancellation.none

    /// Whether a progress handler checks for cancellation while statements run. True from the first access that can be
    /// cancelled.
    private var isWatched = false

    private var ignoringDepth = 0

    /// Whether the token is prevented from interrupting the connection.
    private var isShielded = false

    private var readOnlyDepth = 0
    private var sealDepth = 0

    /// Whether a lock held by another connection is an error immediately, because the access must not wait where it
    /// runs.
    var refusesToWait = false

    /// Whether statements that restore settings run, although another thread has ended the access.
    var isRestoring = false

    /// The error that the end of the access throws: the error of a method that can't throw, or of a change whose cursor
    /// was released before its end.
    private(set) var error: (any Error)?

    // MARK: - Begin and end

    /// Begins an access, which can't be cancelled yet.
    ///
    /// - parameter error: an error that was left for this access.
    mutating func begin(error: (any Error)?) {
        number &+= 1
        self.error = error
    }

    /// Lets the access be cancelled.
    ///
    /// - returns: whether to install a progress handler that asks `isCancelled`; true once for a connection.
    mutating func follow(_ cancellation: Cancellation) -> Bool {
        self.cancellation = cancellation
        defer { isWatched = true }
        return !isWatched
    }

    /// Ends the effect of `follow`: the access ends, or moves to another thread.
    ///
    /// - returns: the token that could cancel the access until now, and must forget the connection.
    mutating func unfollow() -> AccessToken? {
        defer { cancellation = .none }
        guard case .token(let token) = cancellation else { return nil }
        return token
    }

    /// Keeps an error for the end of the access, which throws the first error.
    ///
    /// - returns: whether this is the first error.
    @discardableResult
    mutating func note(_ error: any Error) -> Bool {
        guard self.error == nil else { return false }
        self.error = error
        return true
    }

    /// Removes and returns the error, for the caller to throw.
    mutating func takeError() -> (any Error)? { error.take() }

    // MARK: - Cancellation

    /// Whether the access is cancelled and heeds the cancellation.
    @inline(__always)
    var isCancelled: Bool {
        // Inlined, because a call would retain the objects that the value refers to.
        switch cancellation {
        case .none: false
        case .task: ignoringDepth == 0 && Task.isCancelled
        case .token(let token), .uninterrupted(let token): ignoringDepth == 0 && token.isCancelled
        }
    }

    /// Whether cancellation is ignored, because a rollback has to run.
    @inline(__always)
    var ignoresCancellation: Bool { ignoringDepth > 0 }

    /// Ignores cancellation, until `heedCancellation`.
    ///
    /// - parameter shields: whether the token must not interrupt the connection meanwhile, either.
    /// - returns: the token that must forget the connection; nil if no token could interrupt the connection.
    mutating func ignoreCancellation(shields: Bool) -> AccessToken? {
        ignoringDepth += 1
        guard shields, !isShielded, case .token(let token) = cancellation else { return nil }
        isShielded = true
        return token
    }

    /// Ends the effect of `ignoreCancellation`.
    ///
    /// - parameter endsShield: whether `ignoreCancellation` returned a token, which has the connection again.
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

    /// Prevents writing, and beginning or ending transactions: SQLite calls a collation or a tokenizer in the middle of
    /// its work on pages or on the schema, and continues to read memory that such a statement would free.
    mutating func seal() {
        sealDepth += 1
        readOnlyDepth += 1
    }

    /// Ends the effect of `seal`.
    mutating func unseal() {
        sealDepth -= 1
        readOnlyDepth -= 1
    }
}
