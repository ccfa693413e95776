public import QuarryAccess
public import QuarryRecords

extension Configuration {
    /// Supplies facts that the schema lacks: the primary keys of views.
    ///
    /// ```swift
    /// config.schemaSource = ViewKeys()
    /// ```
    public var schemaSource: (any DatabaseSchemaSource)? {
        get { settings[SchemaSourceSetting.self]?.source }
        set { settings[SchemaSourceSetting.self] = newValue.map(SchemaSourceSetting.init) }
    }
}
