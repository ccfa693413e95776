import Quarry

/// A package that another one needs, directly or through others.
struct Branch: CatalogRow, TableRecord {
    static let databaseTableName = "tree"
    static let name = belongsTo(Name.self, using: ForeignKey(["id"]))
    static let packages = hasMany(Package.self, using: ForeignKey(["name_id"], to: ["id"]))
    static let mentions = hasMany(AlternativeRecord.self, through: packages, using: Package.mentions)

    enum Columns {
        static let id = Column("id")
        static let level = Column("level")
        static let parent = Column("parent")
    }

    /// That of the name.
    var id: Int64
    var name: String
    /// 0 for the package that was asked for, 1 for those that it needs itself.
    var level: Int
    /// Nil for the package that was asked for.
    var parent: Int64?
}

extension Catalog {
    /// The packages that a package needs, level by level, each name at its first occurrence. All alternatives count as
    /// needed.
    ///
    /// - parameter depth: the last level. It ends circles, too.
    /// - returns: an empty list if nobody knows the name.
    func dependencyTree(of name: String, depth: Int) async throws -> [Branch] {
        try await database.read { db in try Self.dependencyTree(of: name, depth: depth, limit: nil, in: db) }
    }

    /// - parameter limit: how many branches are returned, the first of which is the package itself; nil for all.
    static func dependencyTree(
        of name: String, depth: Int, limit: Int?, in db: Database
    ) throws -> [Branch] {
        let mention = TableAlias<AlternativeRecord>()
        let root = Name.filter { $0.name == name }.select { [$0.id, 0.databaseValue, DatabaseValue.null] }
        // With statistics and a condition on dependencies alone, SQLite 3.40 first reads all of them into a Bloom
        // filter, which takes fifty times as long as the tree. So the condition on their kind is also one on the level.
        let next = Branch.joining(required: Branch.mentions.aliased(mention))
            .filter { $0.level < depth && Dependency.Kind.needs.contains(mention.kind) == ($0.level < depth) }
            .select { [mention.targetID, $0.level + 1, $0.id] }
        let tree = CommonTableExpression<Branch>(
            recursive: true, named: Branch.databaseTableName, columns: ["id", "level", "parent"],
            request: root.union(next))
        // SQLite takes the other columns from the row that has the minimum.
        let branches = tree.all().with(tree).select { [$0.id, min($0.level).forKey("level"), $0.parent] }.group(\.id)
            .annotated(withRequired: Branch.name.select(\.name))
            .order(Column("level").detached, Column("name").detached)
        return try (limit.map { branches.limit($0) } ?? branches).fetchAll(db)
    }
}
