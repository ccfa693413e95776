public import Quarry
public import QuarryCore

/// The result of a check of a database: the problems that were found.
///
/// ```swift
/// let report = try dbPool.checkIntegrity(.quick)
/// if !report.isIntact { print(report) }
/// ```
public struct IntegrityReport: Sendable {
    /// The extent of a check.
    public enum Level: String, Sendable, Hashable {
        /// All but the comparison of indexes with their tables:
        /// <https://www.sqlite.org/pragma.html#pragma_quick_check>.
        case quick
        /// Everything: <https://www.sqlite.org/pragma.html#pragma_integrity_check>.
        case full
    }

    /// A problem, in SQLite's words, and the object that it names.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a problem.
        public enum Kind: String, Sendable, Hashable {
            /// The pages of the file contradict each other, or can't be read.
            case structure
            /// An index doesn't have the entries that its table needs: `REINDEX` mends it.
            case index
            /// A row violates a constraint of its table, such as NOT NULL or CHECK. The file isn't damaged.
            case constraint
        }

        /// SQLite's message: `row 3 missing from index player_name`.
        public let message: String
        /// The kind.
        public let kind: Kind
        /// The table, if the message tells it.
        public let table: String?
        /// The index, if the message tells it.
        public let index: String?
        /// The number of the page, from 1, if the message tells it.
        public let page: Int?
        /// The first page of the table or index with the problem, if the message tells it.
        public let rootPage: Int?

        /// SQLite's message.
        public var description: String { message }
    }

    /// A full-text index that contradicts itself or its table.
    public struct FullTextFailure: Sendable, CustomStringConvertible {
        /// The virtual table.
        public let table: String
        /// The error of the check.
        public let error: DatabaseError

        /// The table and the error.
        public var description: String { "\(table): \(error)" }
    }

    /// The extent of the check.
    public let level: Level

    /// The problems, at most the number that was asked for.
    public let problems: [Problem]

    /// Rows whose foreign keys reference missing rows. The file isn't damaged by them.
    public let foreignKeyViolations: [ForeignKeyViolation]

    /// Full-text indexes with problems. Rebuilding them mends them:
    /// <https://www.sqlite.org/fts5.html#the_rebuild_command>.
    public let fullTextFailures: [FullTextFailure]

    /// Virtual tables of full-text search that this connection couldn't check: it lacks their tokenizer, for example.
    public let uncheckedFullTextTables: [String]

    /// Whether nothing was found.
    public var isIntact: Bool { problems.isEmpty && foreignKeyViolations.isEmpty && fullTextFailures.isEmpty }

    /// Whether the file is damaged: there are problems other than violated constraints.
    public var isDamaged: Bool { problems.contains { $0.kind != .constraint } || !fullTextFailures.isEmpty }

    /// The report about a file that can't be opened or read at all.
    init(level: Level, unreadable error: DatabaseError) {
        self.level = level
        problems = [
            Problem(
                message: error.message ?? "\(error)", kind: .structure, table: nil, index: nil, page: nil, rootPage: nil
            )
        ]
        foreignKeyViolations = []
        fullTextFailures = []
        uncheckedFullTextTables = []
    }

    init(
        level: Level, problems: [Problem], foreignKeyViolations: [ForeignKeyViolation] = [],
        fullTextFailures: [FullTextFailure] = [], uncheckedFullTextTables: [String] = []
    ) {
        self.level = level
        self.problems = problems
        self.foreignKeyViolations = foreignKeyViolations
        self.fullTextFailures = fullTextFailures
        self.uncheckedFullTextTables = uncheckedFullTextTables
    }

    /// The report with the results of the check of full-text indexes.
    func adding(_ failures: [FullTextFailure], unchecked: [String]) -> IntegrityReport {
        IntegrityReport(
            level: level, problems: problems, foreignKeyViolations: foreignKeyViolations,
            fullTextFailures: fullTextFailures + failures, uncheckedFullTextTables: uncheckedFullTextTables + unchecked)
    }
}

extension IntegrityReport: CustomStringConvertible {
    /// One line for each problem.
    public var description: String {
        if isIntact { return "intact" }
        let lines =
            problems.map(\.message) + foreignKeyViolations.map(\.description) + fullTextFailures.map(\.description)
        return lines.joined(separator: "\n")
    }
}

/// The part of a check that begins.
///
/// ```swift
/// let report = try dbPool.checkIntegrity { step in print(step) }
/// ```
public enum IntegrityStep: Sendable, Hashable {
    /// The pages of the file, and with `full` the indexes.
    case pages
    /// The foreign keys.
    case foreignKeys
    /// The index of a virtual table of full-text search.
    case fullText(table: String)
}

extension IntegrityMessage {
    /// The kind of the problem.
    var kind: IntegrityReport.Problem.Kind { isOfIndex ? .index : isOfConstraint ? .constraint : .structure }
}
