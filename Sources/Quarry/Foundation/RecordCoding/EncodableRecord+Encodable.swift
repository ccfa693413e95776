import QuarryCore

extension EncodableRecord where Self: Encodable {
    /// Encodes each property into the column of its name.
    ///
    /// A property whose type is no value of a column is encoded as JSON. A property that is nil is NULL.
    ///
    /// - throws: `EncodingError`.
    public func encode(to container: inout PersistenceContainer) throws {
        try RecordEncoder.encode(self, to: container.target)
    }
}
