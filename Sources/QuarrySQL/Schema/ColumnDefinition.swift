public import QuarryCore

/// A column of a new or altered table.
///
/// ```swift
/// t.column("email", .text).notNull().unique().collate(.nocase)
/// ```
/// ```sql
/// "email" TEXT NOT NULL UNIQUE COLLATE NOCASE
/// ```
///
/// See <https://www.sqlite.org/lang_createtable.html#column_definitions>.
public final class ColumnDefinition {
    /// The time when a generated column is computed: <https://www.sqlite.org/gencol.html>.
    public enum GeneratedColumnQualification: Sendable {
        /// Computed when the column is read.
        case virtual
        /// Computed when the row is written.
        case stored
    }

    package struct PrimaryKey {
        var conflictResolution: SQLConflictResolution?
        package var isAutoincremented: Bool
    }

    /// `NOT NULL`, `UNIQUE`: a constraint, with the resolution of conflicts.
    struct Rule {
        var conflictResolution: SQLConflictResolution?
    }

    let name: String
    let type: SQLColumnType?
    package var primaryKey: PrimaryKey?
    var notNull: Rule?
    var unique: Rule?
    var checks: [SQL] = []
    var defaultValue: SQL?
    var collation: SQLCollationName?
    var references: [ForeignKeyReference] = []
    package var generated: (expression: SQL, qualification: GeneratedColumnQualification)?
    private var wantsIndex = false

    init(name: String, type: SQLColumnType?) {
        self.name = name
        self.type = type
    }

    /// Whether the column refuses NULL.
    package var isNotNull: Bool { notNull != nil }

    /// Whether to create an index on the column: a unique column already has one.
    var isIndexed: Bool { wantsIndex && unique == nil }

    /// Makes the column the primary key.
    ///
    /// ```sql
    /// "id" TEXT PRIMARY KEY ON CONFLICT REPLACE
    /// ```
    ///
    /// A key that isn't an integer may be NULL, unless the column also has `notNull()`. The key of `t.primaryKey(_:_:)`
    /// may not.
    ///
    /// - parameter conflictResolution: the action if the key already exists.
    /// - parameter autoincrement: whether the key of a deleted row is never reused:
    ///   <https://www.sqlite.org/autoinc.html>.
    @discardableResult
    public func primaryKey(
        onConflict conflictResolution: SQLConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKey = PrimaryKey(conflictResolution: conflictResolution, isAutoincremented: autoincrement)
        return self
    }

    /// Refuses NULL.
    ///
    /// ```sql
    /// "name" TEXT NOT NULL
    /// ```
    @discardableResult
    public func notNull(onConflict conflictResolution: SQLConflictResolution? = nil) -> Self {
        notNull = Rule(conflictResolution: conflictResolution)
        return self
    }

    /// Refuses values that another row has.
    ///
    /// ```sql
    /// "email" TEXT UNIQUE
    /// ```
    @discardableResult
    public func unique(onConflict conflictResolution: SQLConflictResolution? = nil) -> Self {
        unique = Rule(conflictResolution: conflictResolution)
        return self
    }

    /// Creates an index on the column, unless the column is unique, and so has one already.
    ///
    /// ```sql
    /// CREATE INDEX "player_on_score" ON "player"("score")
    /// ```
    @discardableResult
    public func indexed() -> Self {
        wantsIndex = true
        return self
    }

    /// Refuses rows that don't satisfy an expression.
    ///
    /// ```swift
    /// t.column("score", .integer).check(sql: "score >= 0")
    /// ```
    /// ```sql
    /// "score" INTEGER CHECK (score >= 0)
    /// ```
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(SQL(sql: sql))
        return self
    }

    /// Refuses rows that don't satisfy a condition on the column.
    ///
    /// ```swift
    /// t.column("score", .integer).check { $0 >= 0 }
    /// ```
    /// ```sql
    /// "score" INTEGER CHECK ("score" >= 0)
    /// ```
    ///
    /// - parameter condition: receives the column.
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        checks.append(SQL(condition(Column(name)).sqlExpression))
        return self
    }

    /// The default value.
    ///
    /// ```swift
    /// t.column("score", .integer).defaults(to: 0)
    /// ```
    /// ```sql
    /// "score" INTEGER DEFAULT 0
    /// ```
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        defaultValue = SQL(elements: [.value(value.databaseValue)])
        return self
    }

    /// The default value, as SQL. An expression that isn't a literal or a name needs parentheses: `(1 + 1)`.
    ///
    /// ```swift
    /// t.column("createdAt", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
    /// ```
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultValue = SQL(sql: sql)
        return self
    }

    /// The collation that compares the values: <https://www.sqlite.org/datatype3.html#collation>.
    ///
    /// ```sql
    /// "email" TEXT COLLATE NOCASE
    /// ```
    @discardableResult
    public func collate(_ collation: SQLCollationName) -> Self {
        self.collation = collation
        return self
    }

    /// The collation that compares the values.
    ///
    /// ```swift
    /// let byLength = DatabaseCollation("byLength") { lhs, rhs in lhs.count - rhs.count }
    /// db.add(collation: byLength)
    /// try db.create(table: "player") { t in t.column("name", .text).collate(byLength) }
    /// ```
    /// ```sql
    /// CREATE TABLE "player" ("name" TEXT COLLATE byLength)
    /// ```
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        collate(SQLCollationName(collation.name))
    }

    /// Makes the column a generated column.
    ///
    /// ```swift
    /// t.column("total", .integer).generatedAs(sql: "score + bonus", .stored)
    /// ```
    /// ```sql
    /// "total" INTEGER GENERATED ALWAYS AS (score + bonus) STORED
    /// ```
    ///
    /// See <https://www.sqlite.org/gencol.html>.
    @discardableResult
    public func generatedAs(sql: String, _ qualification: GeneratedColumnQualification = .virtual) -> Self {
        generated = (SQL(sql: sql), qualification)
        return self
    }

    /// Makes the column a generated column.
    ///
    /// ```swift
    /// t.column("total", .integer).generatedAs(Column("score") + Column("bonus"), .stored)
    /// ```
    /// ```sql
    /// "total" INTEGER GENERATED ALWAYS AS ("score" + "bonus") STORED
    /// ```
    ///
    /// See <https://www.sqlite.org/gencol.html>.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self {
        generated = (SQL(expression.sqlExpression), qualification)
        return self
    }

    /// Makes the column a foreign key.
    ///
    /// ```swift
    /// t.column("teamId", .integer).references("team", onDelete: .cascade)
    /// ```
    /// ```sql
    /// "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE
    /// ```
    ///
    /// - parameter table: the referenced table.
    /// - parameter column: the referenced column; nil for the primary key.
    /// - parameter deleteAction: the action when the referenced row is deleted.
    /// - parameter updateAction: the action when the referenced key changes.
    /// - parameter isDeferred: whether the key is checked when the transaction commits.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete deleteAction: SQLForeignKeyAction? = nil,
        onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) -> Self {
        references.append(
            ForeignKeyReference(
                table: table, columns: column.map { [$0] }, deleteAction: deleteAction, updateAction: updateAction,
                isDeferred: isDeferred))
        return self
    }
}

extension ColumnDefinition {
    /// The definition in SQL.
    ///
    /// - parameter isNotNull: whether the column is NOT NULL, even if its own definition doesn't say so.
    func sql(_ keys: ReferencedKeys, isNotNull: Bool = false) throws -> String {
        let resolver = keys.resolver
        var parts = [name.quotedDatabaseIdentifier]
        if let type { parts.append(resolver.declaredType(type)) }
        if let primaryKey {
            parts.append(
                "PRIMARY KEY" + primaryKey.conflictResolution.clause
                    + (primaryKey.isAutoincremented ? " AUTOINCREMENT" : ""))
        }
        if isNotNull || notNull != nil { parts.append("NOT NULL" + (notNull?.conflictResolution).clause) }
        if let unique { parts.append("UNIQUE" + unique.conflictResolution.clause) }
        for check in checks { parts.append("CHECK (\(try resolver.text(of: check)))") }
        if let defaultValue { parts.append("DEFAULT \(try resolver.text(of: defaultValue))") }
        if let collation { parts.append("COLLATE \(collation.sql)") }
        for reference in references {
            parts.append(reference.clause(columns: try keys.columns(of: reference, from: [name])))
        }
        if let generated {
            let qualification = generated.qualification == .stored ? "STORED" : "VIRTUAL"
            parts.append("GENERATED ALWAYS AS (\(try resolver.text(of: generated.expression))) \(qualification)")
        }
        return parts.joined(separator: " ")
    }
}
