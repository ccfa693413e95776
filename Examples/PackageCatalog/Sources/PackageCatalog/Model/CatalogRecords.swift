import Quarry

/// What is read from the catalogue: its columns have the names of the properties, in snake case.
protocol CatalogRow: Decodable, FetchableRecord, Sendable, Equatable {}

extension CatalogRow {
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
}

/// A file that was imported.
struct ImportRecord: Codable, MutablePersistableRecord {
    static let databaseTableName = "imports"
    var id: Int64?
    var source: String
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A text that is stored once, in one of the tables `names`, `sections` and `maintainers`.
struct TextRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "names"
    var id: Int64?
    var name: String
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// One alternative of a dependency.
struct AlternativeRecord: CatalogRow, Encodable, PersistableRecord {
    static let databaseTableName = "dependencies"
    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase

    var packageId: Int64
    /// Among the entries of the package.
    var position: Int
    /// Among those of the entry.
    var alternative: Int
    var kind: Dependency.Kind
    var targetId: Int64
    var qualifier: String?
    var relation: Dependency.Relation?
    var version: String?
    var architectures: String?
    var profiles: String?
}
