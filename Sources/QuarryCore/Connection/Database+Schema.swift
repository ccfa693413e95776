// What the layers above need to keep knowledge of the schema.

extension Database {
    /// A count that another number follows whenever this connection may have changed its schema, or what is attached.
    package var schemaChangeCount: Int { schemaClock.changeCount }
}
