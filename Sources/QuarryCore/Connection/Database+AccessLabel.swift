extension Database {
    /// A name for the access that has the connection. Reports of a read that keeps the write-ahead log from being
    /// emptied show it.
    ///
    /// ```swift
    /// try dbPool.read { db in
    ///     db.accessLabel = "nightly report"
    ///     …
    /// }
    /// ```
    ///
    /// It is forgotten at the end of the access. Outside an access it is nil, and setting it has no effect.
    public var accessLabel: String? {
        get { isOwned ? lifetime.label(ofAccess: access.number) : nil }
        set { if isOwned { lifetime.setLabel(newValue, ofAccess: access.number) } }
    }

    /// The label of an access. May be called from any thread.
    package func accessLabel(ofAccess number: Int) -> String? { lifetime.label(ofAccess: number) }
}
