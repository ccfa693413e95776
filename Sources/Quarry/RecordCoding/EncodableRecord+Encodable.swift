import QuarryCore

extension EncodableRecord where Self: Encodable {
    /// Encodes each property into the column of its name.
    ///
    /// A property whose type is no value of a column is encoded as JSON. A property that is nil is NULL.
    ///
    /// Keys that are one byte, as the cases of an enum are, are asked for their names in the first records of a
    /// connection, not in each.
    ///
    /// - throws: `EncodingError`.
    public func encode(to container: inout PersistenceContainer) throws {
        try RecordEncoder.encode(self, to: container.target)
    }
}
