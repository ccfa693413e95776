public import QuarryCore

extension TableSchema {
    /// A column, and what is said of it, in the words of `ColumnDefinition`.
    public struct Column: Sendable {
        let name: String
        let type: SQLColumnType?
        var allowsNull = false
        private var changes: [@Sendable (ColumnDefinition) -> Void] = []

        init(name: String, type: SQLColumnType?) {
            self.name = name
            self.type = type
        }

        /// Says all of it.
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
        /// - parameter conflictResolution: what happens to a row whose key is there already.
        /// - parameter autoincrement: whether the key of a deleted row is never used again.
        public func primaryKey(
            onConflict conflictResolution: SQLConflictResolution? = nil, autoincrement: Bool = false
        ) -> Column {
            saying { $0.primaryKey(onConflict: conflictResolution, autoincrement: autoincrement) }
        }

        /// Refuses NULL, as a property does that isn't optional.
        public func notNull(onConflict conflictResolution: SQLConflictResolution? = nil) -> Column {
            saying { $0.notNull(onConflict: conflictResolution) }
        }

        /// Takes NULL, though the record's property isn't optional.
        public func nullable() -> Column {
            var column = self
            column.allowsNull = true
            return column
        }

        /// Refuses a value that another row has.
        public func unique(onConflict conflictResolution: SQLConflictResolution? = nil) -> Column {
            saying { $0.unique(onConflict: conflictResolution) }
        }

        /// Creates an index on the column, unless it is unique, and has one.
        public func indexed() -> Column { saying { $0.indexed() } }

        /// Refuses rows for which an expression is false.
        public func check(sql: String) -> Column { saying { $0.check(sql: sql) } }

        /// Refuses rows for which a condition on the column is false.
        ///
        /// ```swift
        /// t.column("score").check { $0 >= 0 }
        /// ```
        public func check(_ condition: (QuarrySQL.Column) -> any SQLExpressible) -> Column {
            let condition = condition(QuarrySQL.Column(name)).sqlExpression
            return saying { $0.check { _ in condition } }
        }

        /// The value where none is given.
        public func defaults(to value: some DatabaseValueConvertible) -> Column {
            let value = value.databaseValue
            return saying { $0.defaults(to: value) }
        }

        /// The value where none is given, as SQL.
        public func defaults(sql: String) -> Column { saying { $0.defaults(sql: sql) } }

        /// The order in which the values are compared.
        public func collate(_ collation: SQLCollationName) -> Column { saying { $0.collate(collation) } }

        /// The order in which the values are compared.
        public func collate(_ collation: DatabaseCollation) -> Column {
            collate(SQLCollationName(collation.name))
        }

        /// Makes a column whose values are computed.
        public func generatedAs(
            sql: String, _ qualification: ColumnDefinition.GeneratedColumnQualification = .virtual
        ) -> Column {
            saying { $0.generatedAs(sql: sql, qualification) }
        }

        /// Makes a column whose values are computed.
        public func generatedAs(
            _ expression: some SQLExpressible, _ qualification: ColumnDefinition.GeneratedColumnQualification = .virtual
        ) -> Column {
            let expression = expression.sqlExpression
            return saying { $0.generatedAs(expression, qualification) }
        }

        /// Makes a foreign key of the column.
        ///
        /// ```swift
        /// t.column("teamId").references("team", onDelete: .cascade)
        /// ```
        ///
        /// - parameter table: the table that is referred to.
        /// - parameter column: its column; nil for its primary key.
        /// - parameter deleteAction: what happens when the parent row goes.
        /// - parameter updateAction: what happens when its key changes.
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
