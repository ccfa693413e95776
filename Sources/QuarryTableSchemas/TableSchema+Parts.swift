import Quarry
public import QuarryCore
public import QuarrySQL

extension TableSchema {
    /// Makes the parts of a table.
    ///
    /// ```swift
    /// TableSchema { t in
    ///     t.column("name").notNull()
    ///     t.index(on: ["name"])
    /// }
    /// ```
    public struct Parts: Sendable {
        /// Describes a column of the record, or declares a further one.
        ///
        /// - parameter name: the column's name.
        /// - parameter type: the column's type; nil for that of the record's property.
        public func column(_ name: String, _ type: SQLColumnType? = nil) -> Column {
            Column(name: name, type: type)
        }

        /// Describes a column of the record, or declares a further one.
        public func column(_ column: some ColumnExpression, _ type: SQLColumnType? = nil) -> Column {
            Column(name: column.name, type: type)
        }

        // MARK: - Keys

        /// Makes a primary key with several columns.
        ///
        /// ```sql
        /// PRIMARY KEY ("countryCode", "number")
        /// ```
        ///
        /// - parameter columns: the columns, in the order of the key.
        /// - parameter conflictResolution: the action if the key already exists.
        public func primaryKey(
            _ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil
        ) -> Part {
            constraint { t in t.primaryKey(columns, onConflict: conflictResolution) }
        }

        /// Makes a primary key of columns, each with an optional collation and order.
        ///
        /// ```swift
        /// t.primaryKey([Column("player"), Column("date").desc])
        /// ```
        /// ```sql
        /// PRIMARY KEY ("player", "date" DESC)
        /// ```
        public func primaryKey(
            _ terms: [any SQLOrderingTerm], onConflict conflictResolution: SQLConflictResolution? = nil
        ) -> Part {
            key("PRIMARY KEY", terms, conflictResolution)
        }

        /// Refuses rows with the same values in some columns as another row.
        ///
        /// ```sql
        /// UNIQUE ("teamId", "number")
        /// ```
        public func uniqueKey(
            _ columns: [String], onConflict conflictResolution: SQLConflictResolution? = nil
        ) -> Part {
            constraint { t in t.uniqueKey(columns, onConflict: conflictResolution) }
        }

        /// Refuses rows with the same values in some columns as another row. Each column may have a collation and an
        /// order.
        public func uniqueKey(
            _ terms: [any SQLOrderingTerm], onConflict conflictResolution: SQLConflictResolution? = nil
        ) -> Part {
            key("UNIQUE", terms, conflictResolution)
        }

        private func key(
            _ kind: String, _ terms: [any SQLOrderingTerm], _ conflictResolution: SQLConflictResolution?
        ) -> Part {
            let list = terms.map { SQL($0.sqlOrdering) }.joined(separator: ", ")
            let sql = SQL(sql: "\(kind) (") + list + SQL(sql: ")" + conflictResolution.clause)
            return constraint { t in t.constraint(literal: sql) }
        }

        /// Makes a foreign key with several columns. For one column, use `t.column("teamId").references("team")`.
        ///
        /// ```sql
        /// FOREIGN KEY ("countryCode", "number") REFERENCES "passport"("countryCode", "number")
        /// ```
        ///
        /// - parameter columns: the columns.
        /// - parameter table: the referenced table.
        /// - parameter destinationColumns: the referenced columns; nil for the primary key.
        /// - parameter deleteAction: the action when the referenced row is deleted.
        /// - parameter updateAction: the action when the referenced key changes.
        /// - parameter isDeferred: whether the key is checked when the transaction commits.
        public func foreignKey(
            _ columns: [String], references table: String, columns destinationColumns: [String]? = nil,
            onDelete deleteAction: SQLForeignKeyAction? = nil,
            onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false
        ) -> Part {
            constraint { t in
                t.foreignKey(
                    columns, references: table, columns: destinationColumns, onDelete: deleteAction,
                    onUpdate: updateAction, deferred: isDeferred)
            }
        }

        // MARK: - Constraints

        /// Refuses rows that don't satisfy a condition.
        ///
        /// ```swift
        /// t.check(Column("score") >= Column("bonus"))
        /// ```
        /// ```sql
        /// CHECK ("score" >= "bonus")
        /// ```
        public func check(_ condition: some SQLSpecificExpressible) -> Part {
            let condition = condition.sqlExpression
            return constraint { t in t.check(condition) }
        }

        /// Refuses rows that don't satisfy an expression.
        public func check(sql: String) -> Part { constraint { t in t.check(sql: sql) } }

        /// Adds a constraint in SQL.
        public func constraint(sql: String) -> Part { constraint { t in t.constraint(sql: sql) } }

        /// Adds a constraint in SQL, with values written as literals.
        public func constraint(literal: SQL) -> Part { constraint { t in t.constraint(literal: literal) } }

        private func constraint(_ apply: @escaping @Sendable (TableDefinition) -> Void) -> Part {
            Part(content: .constraint(apply))
        }

        // MARK: - Indexes

        /// Creates an index on columns. For one column, `t.column("score").indexed()` does the same.
        ///
        /// ```swift
        /// t.index(on: ["teamId", "score"])
        /// t.index(on: ["email"], suffix: "_byEmail", unique: true)
        /// ```
        /// ```sql
        /// CREATE INDEX "index_player_on_teamId_score" ON "player"("teamId", "score")
        /// CREATE UNIQUE INDEX "player_byEmail" ON "player"("email")
        /// ```
        ///
        /// - parameter columns: the columns, in the order of the index.
        /// - parameter suffix: the part of the index's name after the table's name; nil for the names of the columns.
        /// - parameter isUnique: whether the index refuses rows with the same values as another row.
        /// - parameter condition: selects the rows in the index; nil for all.
        public func index(
            on columns: [String], suffix: String? = nil, unique isUnique: Bool = false,
            where condition: (any SQLSpecificExpressible)? = nil
        ) -> Part {
            Part(
                content: .index(
                    Index(
                        suffix: suffix, columns: columns,
                        terms: columns.map { SQL(sql: $0.quotedDatabaseIdentifier) },
                        options: isUnique ? .unique : [], condition: condition.map { SQL($0.sqlExpression) })))
        }

        /// Creates an index on columns and expressions, each with an optional collation and order.
        ///
        /// ```swift
        /// t.index(on: [Column("score").desc, Column("name").collating(.nocase)], suffix: "_byScore")
        /// ```
        /// ```sql
        /// CREATE INDEX "player_byScore" ON "player"("score" DESC, "name" COLLATE NOCASE)
        /// ```
        ///
        /// - parameter terms: the columns and expressions, in the order of the index.
        /// - parameter suffix: the part of the index's name after the table's name.
        /// - parameter isUnique: whether the index refuses rows with the same values as another row.
        /// - parameter condition: selects the rows in the index; nil for all.
        public func index(
            on terms: [any SQLOrderingTerm], suffix: String, unique isUnique: Bool = false,
            where condition: (any SQLSpecificExpressible)? = nil
        ) -> Part {
            Part(
                content: .index(
                    Index(
                        suffix: suffix, columns: [], terms: terms.map { SQL($0.sqlOrdering) },
                        options: isUnique ? .unique : [], condition: condition.map { SQL($0.sqlExpression) })))
        }
    }
}
