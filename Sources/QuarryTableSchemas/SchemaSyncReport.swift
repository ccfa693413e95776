import Quarry
import QuarryCore
import QuarrySQL

/// A report of the changes that `Database.synchronizeSchema(of:)` has made, or would make.
public struct SchemaSyncReport: Hashable, Sendable {
    /// A declared column or index that can't be added to the table.
    public struct Impossible: Hashable, Sendable {
        /// The reason that a column or an index can't be added.
        public enum Reason: Hashable, Sendable {
            /// A column that is the primary key.
            case primaryKey
            /// A column that is unique.
            case unique
            /// A column that is NOT NULL and has no default, for existing rows.
            case notNullWithoutDefault
            /// A column whose default isn't the same for all existing rows.
            case nonConstantDefault
            /// A generated column that is computed when its row is written.
            case storedColumn
            /// A foreign key with a default, for existing rows.
            case referenceWithDefault
            /// Existing rows violate the constraint of a column, or have equal values in a unique index.
            case violatingRows
            /// Another reason of SQLite.
            case other
        }

        /// The column or the index.
        public let name: String

        /// The reason.
        public let reason: Reason

        /// SQLite's message.
        public let message: String
    }

    /// The table.
    public let table: String

    /// Whether the table was created, with its columns and indexes.
    public internal(set) var createdTable = false

    /// The columns that were added.
    public internal(set) var addedColumns: [String] = []

    /// The indexes that were created.
    public internal(set) var createdIndexes: [String] = []

    /// The columns of the table that the record doesn't declare. They stay.
    public internal(set) var ignoredColumns: [String] = []

    /// The indexes of the table that the record doesn't declare. They stay.
    public internal(set) var undeclaredIndexes: [String] = []

    /// The columns and indexes that can't be added, with reasons.
    public internal(set) var impossible: [Impossible] = []

    /// The other differences: types, keys, constraints of existing columns. Only a rebuild removes these.
    public internal(set) var mismatches: [SchemaMismatch] = []

    /// Whether the table was rebuilt.
    public internal(set) var rebuiltTable = false

    /// The undeclared constraints of the table, which the rebuild has dropped.
    public internal(set) var droppedConstraints: [String] = []

    /// The SQL of the statements, in order.
    public internal(set) var statements: [String] = []

    init(table: String) { self.table = table }

    /// Whether there was nothing to do.
    public var isUpToDate: Bool { statements.isEmpty && impossible.isEmpty }
}

/// Thrown when a table can't be synchronized with its record's declaration. Nothing has changed.
///
/// ```swift
/// do {
///     _ = try db.synchronizeSchema(of: Player.self)
/// } catch let error as SchemaSyncError {
///     for problem in error.report.impossible { print(problem.name, problem.reason) }
/// }
/// ```
public struct SchemaSyncError: Error, CustomStringConvertible {
    /// The changes that would have been made, and the impossible ones.
    public let report: SchemaSyncReport

    /// `table player can't be synchronized: email: Cannot add a UNIQUE column`
    public var description: String {
        "table \(report.table) can't be synchronized: "
            + report.impossible.map { "\($0.name): \($0.message)" }.joined(separator: "; ")
    }
}

/// A difference between a table and its record's declaration.
public struct SchemaMismatch: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a difference.
    public enum Kind: String, Hashable, Sendable {
        /// The table doesn't exist.
        case missingTable = "table"
        /// The table lacks a column.
        case missingColumn = "missing column"
        /// The table has a column that isn't declared.
        case undeclaredColumn = "undeclared column"
        /// The table lacks an index.
        case missingIndex = "missing index"
        /// The table has an index that isn't declared.
        case undeclaredIndex = "undeclared index"
        /// An index has other columns, or another condition.
        case index
        /// The declared type of a column.
        case type
        /// Whether a column is NOT NULL.
        case notNull = "NOT NULL"
        /// The default of a column.
        case defaultValue = "DEFAULT"
        /// Whether a column is generated, and when it is computed.
        case generation = "GENERATED"
        /// The primary key.
        case primaryKey = "PRIMARY KEY"
        /// The sets of columns with unique values.
        case uniqueKeys = "UNIQUE"
        /// The foreign keys.
        case foreignKeys = "FOREIGN KEY"
        /// STRICT, WITHOUT ROWID.
        case options
    }

    /// The kind of the difference.
    public let kind: Kind

    /// The column, index or table.
    public let name: String

    /// The declaration, in SQL; nil for none.
    public let declared: String?

    /// The actual definition, in SQL; nil for none.
    public let actual: String?

    /// `type of score: declared INTEGER, is TEXT`
    public var description: String {
        "\(kind.rawValue) of \(name): declared \(declared ?? "none"), is \(actual ?? "none")"
    }
}
