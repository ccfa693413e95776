/// Which columns an upsert overwrites in the row that is there.
public struct UpsertUpdateStrategy: OptionSet, Sendable {
    /// The strategy as a number.
    public let rawValue: Int

    /// A strategy by its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// All columns that the record has, but for those of the primary key and of the conflict.
    public static let allColumns = UpsertUpdateStrategy([])

    /// None: the row that is there stays as it is.
    public static let noColumnUnlessSpecified = UpsertUpdateStrategy(rawValue: 1)
}
