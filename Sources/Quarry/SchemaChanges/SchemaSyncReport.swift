/// What `Database.synchronizeSchema(of:)` has done, or would do.
public struct SchemaSyncReport: Hashable, Sendable {
    /// Something that the record declares, and that can't be added to the table.
    public struct Impossible: Hashable, Sendable {
        /// Why a column or an index can't be added.
        public enum Reason: Hashable, Sendable {
            /// A column that is the primary key.
            case primaryKey
            /// A column that is unique.
            case unique
            /// A column that is NOT NULL, and has no default, for rows that are there.
            case notNullWithoutDefault
            /// A column whose default isn't the same for all rows that are there.
            case nonConstantDefault
            /// A column that is computed when its row is written.
            case storedColumn
            /// A foreign key with a default, for rows that are there.
            case referenceWithDefault
            /// Rows that are there violate the constraint of a column, or have the same values in a unique index.
            case violatingRows
            /// Another reason of SQLite's.
            case other
        }

        /// The column or the index.
        public let name: String

        /// Why.
        public let reason: Reason

        /// What SQLite says.
        public let message: String
    }

    /// The table.
    public let table: String

    /// Whether the table was created, with all it has.
    public internal(set) var createdTable = false

    /// The columns that were added.
    public internal(set) var addedColumns: [String] = []

    /// The indexes that were created.
    public internal(set) var createdIndexes: [String] = []

    /// The columns of the table that the record doesn't declare. They stay.
    public internal(set) var ignoredColumns: [String] = []

    /// The indexes of the table that the record doesn't declare. They stay.
    public internal(set) var undeclaredIndexes: [String] = []

    /// What can't be added, and why.
    public internal(set) var impossible: [Impossible] = []

    /// What else differs: types, keys, constraints of columns that are there. Only a rebuilding changes that.
    public internal(set) var mismatches: [SchemaMismatch] = []

    /// Whether the table was rebuilt.
    public internal(set) var rebuiltTable = false

    /// The constraints of the table that the record doesn't declare, and that are gone with the rebuilding.
    public internal(set) var droppedConstraints: [String] = []

    /// The statements, in their order.
    public internal(set) var statements: [String] = []

    init(table: String) { self.table = table }

    /// Whether nothing was to be done.
    public var isUpToDate: Bool { statements.isEmpty && impossible.isEmpty }
}

/// A table can't be made as its record declares it. Nothing has changed.
///
/// ```swift
/// do {
///     _ = try db.synchronizeSchema(of: Player.self)
/// } catch let error as SchemaSyncError {
///     for problem in error.report.impossible { print(problem.name, problem.reason) }
/// }
/// ```
public struct SchemaSyncError: Error, CustomStringConvertible {
    /// What would have been done, and what is impossible.
    public let report: SchemaSyncReport

    /// `table player can't be synchronized: email: Cannot add a UNIQUE column`
    public var description: String {
        "table \(report.table) can't be synchronized: "
            + report.impossible.map { "\($0.name): \($0.message)" }.joined(separator: "; ")
    }
}

/// A difference between a table and its record's declaration.
public struct SchemaMismatch: Hashable, Sendable, CustomStringConvertible {
    /// What differs.
    public enum Kind: String, Hashable, Sendable {
        /// There is no such table.
        case missingTable = "table"
        /// The table lacks a column.
        case missingColumn = "missing column"
        /// The table has a column that isn't declared.
        case undeclaredColumn = "undeclared column"
        /// The table lacks an index.
        case missingIndex = "missing index"
        /// The table has an index that isn't declared.
        case undeclaredIndex = "undeclared index"
        /// An index is of other columns, or has another condition.
        case index
        /// The declared type of a column.
        case type
        /// Whether a column is NOT NULL.
        case notNull = "NOT NULL"
        /// The default of a column.
        case defaultValue = "DEFAULT"
        /// Whether and when a column is computed.
        case generation = "GENERATED"
        /// The primary key.
        case primaryKey = "PRIMARY KEY"
        /// The columns of which a table has unique values.
        case uniqueKeys = "UNIQUE"
        /// The foreign keys.
        case foreignKeys = "FOREIGN KEY"
        /// STRICT, WITHOUT ROWID.
        case options
    }

    /// What differs.
    public let kind: Kind

    /// The column, index or table.
    public let name: String

    /// What is declared, in SQL's words; nil for nothing.
    public let declared: String?

    /// What there is; nil for nothing.
    public let actual: String?

    /// `type of score: declared INTEGER, is TEXT`
    public var description: String {
        "\(kind.rawValue) of \(name): declared \(declared ?? "none"), is \(actual ?? "none")"
    }
}
