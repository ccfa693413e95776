public import Quarry

/// Records that are read from the catalogue: the columns have the names of the properties, in snake case.
public protocol CatalogRow: Decodable, FetchableRecord, Sendable, Equatable {}

extension CatalogRow {
    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
}

/// A file that was imported.
struct ImportRecord: Codable, MutablePersistableRecord {
    static let databaseTableName = "imports"
    static let packages = hasMany(Package.self)

    enum Columns {
        static let id = Column("id")
        static let source = Column("source")
        static let packages = Column("packages")
        static let rows = Column("rows")
        static let bytesRead = Column("bytes_read")
        static let byteCount = Column("byte_count")
    }

    var id: Int64?
    var source: String
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A text that is stored once, however many packages have it.
protocol SharedText: Codable, FetchableRecord, MutablePersistableRecord where Columns == TextColumns {
    var id: Int64? { get set }
    init(id: Int64?, name: String)
}

enum TextColumns {
    static let id = Column("id")
    static let name = Column("name")
    /// Of names.
    static let needing = Column("needing")
    static let wishing = Column("wishing")
    /// Of sections.
    static let packages = Column("packages")
    static let installedSize = Column("installed_size")
}

extension SharedText {
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The name of a package, there or not.
struct Name: SharedText {
    typealias Columns = TextColumns
    static let databaseTableName = "names"
    static let packages = hasMany(Package.self)
    /// The dependencies of packages that name it.
    static let mentions = hasMany(AlternativeRecord.self)

    var id: Int64?
    var name: String
}

struct Section: SharedText {
    typealias Columns = TextColumns
    static let databaseTableName = "sections"
    static let packages = hasMany(Package.self)

    var id: Int64?
    var name: String
}

struct Maintainer: SharedText {
    typealias Columns = TextColumns
    static let databaseTableName = "maintainers"
    static let packages = hasMany(Package.self)

    var id: Int64?
    var name: String
}

extension Package: TableRecord {
    static let databaseTableName = "packages"
    static let name = belongsTo(Name.self)
    static let section = belongsTo(Section.self)
    static let maintainer = belongsTo(Maintainer.self)
    static let mentions = hasMany(AlternativeRecord.self, key: "mentions")

    enum Columns {
        static let id = Column("id")
        static let nameID = Column("name_id")
        static let architecture = Column("architecture")
        static let version = Column("version")
        static let state = Column("state")
        static let sectionID = Column("section_id")
        static let installedSize = Column("installed_size")
        static let importID = Column("import_id")
    }
}

/// The one row that counts the rows of the large tables.
struct Totals: TableRecord {
    static let databaseTableName = "totals"

    enum Columns {
        static let packages = Column("packages")
        static let available = Column("available")
        static let installedSize = Column("installed_size")
        static let names = Column("names")
        static let dependencies = Column("dependencies")
    }
}

/// One alternative of a dependency.
struct AlternativeRecord: CatalogRow, Encodable, PersistableRecord {
    static let databaseTableName = "dependencies"
    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
    static let target = belongsTo(Name.self)

    enum Columns {
        static let packageID = Column("package_id")
        static let position = Column("position")
        static let alternative = Column("alternative")
        static let kind = Column("kind")
        static let targetID = Column("target_id")
    }

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
