/// The limits of a call.
struct RemoteCall: Sendable {
    /// The time at which the answer is no longer waited for: nanoseconds of the monotonic clock; `UInt64.max` for
    /// never.
    let deadline: UInt64

    /// Whether the shadow has an open transaction.
    let isInsideTransaction: Bool
}

/// A row of `sqlite_schema`: <https://www.sqlite.org/schematab.html>.
struct RemoteSchemaEntry: Hashable, Sendable {
    enum Kind: String, Sendable {
        case table, index, view, trigger
    }

    let kind: Kind
    let name: String
    let sql: String
}
