import Quarry

/// The SQL of the schema's objects, by their names.
func schemaSQL(_ db: Database, in schema: String = "main") throws -> [String] {
    try String.fetchAll(db, sql: "SELECT sql FROM \(schema).sqlite_master WHERE sql IS NOT NULL ORDER BY name")
}
