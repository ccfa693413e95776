import QuarryCore

/// The columns that `belongsTo` defines.
///
/// ```swift
/// t.belongsTo("team").notNull()
/// ```
public final class ForeignKeyDefinition {
    let name: String
    let table: String?
    /// The reference, without its table.
    let reference: ForeignKeyReference
    let isIndexed: Bool
    var notNull: ColumnDefinition.Rule?
    var isUnique = false

    init(
        name: String, table: String?, deleteAction: SQLForeignKeyAction?, updateAction: SQLForeignKeyAction?,
        isDeferred: Bool, isIndexed: Bool
    ) {
        self.name = name
        self.table = table
        // The schema tells the table and its columns.
        reference = ForeignKeyReference(
            table: "", columns: nil, deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)
        self.isIndexed = isIndexed
    }

    /// Refuses NULL: each row must reference another row.
    ///
    /// ```swift
    /// try db.create(table: "player") { t in t.belongsTo("team").notNull() }
    /// ```
    /// ```sql
    /// CREATE TABLE "player" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"))
    /// CREATE INDEX "player_on_teamId" ON "player"("teamId")
    /// ```
    @discardableResult
    public func notNull(onConflict conflictResolution: SQLConflictResolution? = nil) -> Self {
        notNull = ColumnDefinition.Rule(conflictResolution: conflictResolution)
        return self
    }

    /// Refuses references that another row has.
    ///
    /// ```swift
    /// try db.create(table: "captain") { t in t.belongsTo("team").unique() }
    /// ```
    /// ```sql
    /// CREATE TABLE "captain" ("teamId" INTEGER UNIQUE REFERENCES "team"("id"))
    /// ```
    @discardableResult
    public func unique() -> Self {
        isUnique = true
        return self
    }
}

/// The definitions that a `belongsTo` adds, once the referenced key is known.
struct ResolvedForeignKey {
    var columns: [ColumnDefinition]
    /// The constraint of the table, if the key has several columns.
    var constraint: TableDefinition.ForeignKey?
    /// The index on the columns, if the key has several columns.
    var index: (columns: [String], isUnique: Bool)?

    init(_ definition: ForeignKeyDefinition, _ keys: ReferencedKeys) throws {
        let table = try definition.table.map { keys.isOwn($0) ? keys.table : $0 } ?? keys.table(named: definition.name)
        guard let key = try keys.key(of: table) else {
            throw DatabaseError(
                message: "belongsTo(\"\(definition.name)\"): the primary key of table \(table) is defined in SQL; "
                    + "define the column, and foreignKey(_:references:)")
        }
        columns = key.map { column in
            ColumnDefinition(name: definition.name + column.suffix, type: column.type)
        }
        var reference = definition.reference
        reference.table = table
        reference.columns = key.map(\.name)
        for column in columns { column.notNull = definition.notNull }
        guard columns.count > 1 else {
            columns[0].references = [reference]
            if definition.isUnique { columns[0].unique = ColumnDefinition.Rule() }
            if definition.isIndexed { columns[0].indexed() }
            return
        }
        constraint = TableDefinition.ForeignKey(columns: columns.map(\.name), reference: reference)
        if definition.isUnique || definition.isIndexed {
            index = (columns.map(\.name), definition.isUnique)
        }
    }
}
