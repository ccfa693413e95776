/// The columns that an upsert overwrites in an existing row.
public struct UpsertUpdateStrategy: OptionSet, Sendable {
    /// The strategy as a number.
    public let rawValue: Int

    /// A strategy by its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// All columns of the record, except those of the primary key and of the conflict.
    public static let allColumns = UpsertUpdateStrategy([])

    /// No column: an existing row stays unchanged.
    public static let noColumnUnlessSpecified = UpsertUpdateStrategy(rawValue: 1)
}
