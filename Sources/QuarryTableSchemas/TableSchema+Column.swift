import Quarry
public import QuarryCore
public import QuarrySQL

extension TableSchema {
    /// A column, with the properties that `ColumnDefinition` can define.
    public struct Column: Sendable {
        let name: String
        let type: SQLColumnType?
        var allowsNull = false
        private var changes: [@Sendable (ColumnDefinition) -> Void] = []

        init(name: String, type: SQLColumnType?) {
            self.name = name
            self.type = type
        }

        /// Applies the properties to a definition.
        func apply(to definition: ColumnDefinition) {
            for change in changes { change(definition) }
        }

        private func saying(_ change: @escaping @Sendable (ColumnDefinition) -> Void) -> Column {
            var column = self
            column.changes.append(change)
            return column
        }

        /// Makes the column the primary key. Unless it is an integer, it can't be NULL.
        ///
        /// ```sql
        /// "id" INTEGER PRIMARY KEY AUTOINCREMENT
        /// ```
        ///
        /// - parameter conflictResolution: the action if the key already exists.
        /// - parameter autoincrement: whether the key of a deleted row is never reused.
        public func primaryKey(
            onConflict conflictResolution: SQLConflictResolution? = nil, autoincrement: Bool = false
        ) -> Column {
            saying { $0.primaryKey(onConflict: conflictResolution, autoincrement: autoincrement) }
        }

        /// Refuses NULL, as a non-optional property does.
        public func notNull(onConflict conflictResolution: SQLConflictResolution? = nil) -> Column {
            saying { $0.notNull(onConflict: conflictResolution) }
        }

        /// Accepts NULL, although the record's property isn't optional.
        public func nullable() -> Column {
            var column = self
            column.allowsNull = true
            return column
        }

        /// Refuses values that another row has.
        public func unique(onConflict conflictResolution: SQLConflictResolution? = nil) -> Column {
            saying { $0.unique(onConflict: conflictResolution) }
        }

        /// Creates an index on the column, unless the column is unique, and so has one already.
        public func indexed() -> Column { saying { $0.indexed() } }

        /// Refuses rows that don't satisfy an expression.
        public func check(sql: String) -> Column { saying { $0.check(sql: sql) } }

        /// Refuses rows that don't satisfy a condition on the column.
        ///
        /// ```swift
        /// t.column("score").check { $0 >= 0 }
        /// ```
        public func check(_ condition: (QuarrySQL.Column) -> any SQLExpressible) -> Column {
            let condition = condition(QuarrySQL.Column(name)).sqlExpression
            return saying { $0.check { _ in condition } }
        }

        /// The default value.
        public func defaults(to value: some DatabaseValueConvertible) -> Column {
            let value = value.databaseValue
            return saying { $0.defaults(to: value) }
        }

        /// The default value, as SQL.
        public func defaults(sql: String) -> Column { saying { $0.defaults(sql: sql) } }

        /// The collation that compares the values.
        public func collate(_ collation: SQLCollationName) -> Column { saying { $0.collate(collation) } }

        /// The collation that compares the values.
        public func collate(_ collation: DatabaseCollation) -> Column {
            collate(SQLCollationName(collation.name))
        }

        /// Makes the column a generated column.
        public func generatedAs(
            sql: String, _ qualification: ColumnDefinition.GeneratedColumnQualification = .virtual
        ) -> Column {
            saying { $0.generatedAs(sql: sql, qualification) }
        }

        /// Makes the column a generated column.
        public func generatedAs(
            _ expression: some SQLExpressible, _ qualification: ColumnDefinition.GeneratedColumnQualification = .virtual
        ) -> Column {
            let expression = expression.sqlExpression
            return saying { $0.generatedAs(expression, qualification) }
        }

        /// Makes the column a foreign key.
        ///
        /// ```swift
        /// t.column("teamId").references("team", onDelete: .cascade)
        /// ```
        ///
        /// - parameter table: the referenced table.
        /// - parameter column: the referenced column; nil for the primary key.
        /// - parameter deleteAction: the action when the referenced row is deleted.
        /// - parameter updateAction: the action when the referenced key changes.
        /// - parameter isDeferred: whether the key is checked when the transaction commits.
        public func references(
            _ table: String, column: String? = nil, onDelete deleteAction: SQLForeignKeyAction? = nil,
            onUpdate updateAction: SQLForeignKeyAction? = nil, deferred isDeferred: Bool = false
        ) -> Column {
            saying {
                $0.references(
                    table, column: column, onDelete: deleteAction, onUpdate: updateAction, deferred: isDeferred)
            }
        }
    }
}
