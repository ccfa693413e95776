public import QuarryCore

// The schema's values as records, and what depends on the plans of records.

extension ColumnInfo: FetchableRecord {}

extension ForeignKeyViolation: FetchableRecord {}

extension Database {
    /// Runs `block` with another source, or without one.
    ///
    /// ```swift
    /// try db.withSchemaSource(nil) { try db.primaryKey("player").columns }
    /// ```
    ///
    /// - throws: the error of `block`.
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T
    ) rethrows -> T {
        guard isOwned else {
            failingAccess { try checkAccess() }
            return try block()
        }
        let reader = schema
        let previous = reader.source
        reader.source = SchemaReader.SchemaSourceOverride(source: schemaSource)
        RecordPlans.forgetKeysOfViews(self)
        defer {
            reader.source = previous
            RecordPlans.forgetKeysOfViews(self)
        }
        return try block()
    }
}
