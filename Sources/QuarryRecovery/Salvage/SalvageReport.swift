import Quarry
public import QuarryCore

/// The rows and objects that `DatabaseSalvage` has saved, and those that are lost.
///
/// ```swift
/// let report = try DatabaseSalvage(path: damaged).salvage(into: path)
/// print(report)
/// ```
/// ```
/// 12034 rows of 3 tables saved
/// player: 12000 rows saved, 20 of them from pages that the tree has lost; page 17 is lost, rowids 512 to 540
/// ```
public struct SalvageReport: Sendable {
    /// A page of a table that is lost, with its rows.
    public struct LostPage: Sendable, Hashable, CustomStringConvertible {
        /// The number of the page, from 1.
        public let page: Int
        /// The rowids of the lost rows are above this; nil if unknown, and for tables WITHOUT ROWID.
        public let lowerBound: Int64?
        /// The rowids of the lost rows are at most this; nil if unknown, and for tables WITHOUT ROWID.
        public let upperBound: Int64?
        /// The reason.
        public let reason: String

        /// `page 17 (it can't be read), rowids 512 to 540`
        public var description: String {
            let text = "page \(page) (\(reason))"
            switch (lowerBound, upperBound) {
            case (nil, nil): return text
            case (let low?, nil): return text + ", rowids above \(low)"
            case (nil, let high?): return text + ", rowids up to \(high)"
            case (let low?, let high?):
                return text + (low < high ? ", rowids \(low + 1) to \(high)" : ", rowids near \(high)")
            }
        }
    }

    /// The rows of a table.
    public struct Table: Sendable {
        /// The name.
        public let name: String
        /// The number of rows that are in the table.
        public internal(set) var savedRowCount = 0
        /// The number of those that were found on pages to which the damaged tree has no path. It is inferred that they
        /// belong to the table.
        public internal(set) var orphanedRowCount = 0
        /// The number of rows that the table refused: they are in the table of lost rows.
        public internal(set) var refusedRowCount = 0
        /// The number of rows that can't be read completely, or whose bytes may be those of another row. As far as they
        /// can be read, they are in the table of lost rows.
        public internal(set) var brokenRowCount = 0
        /// The number of rows that the file had twice.
        public internal(set) var duplicateRowCount = 0
        /// The pages that are lost, at most a thousand. Some of their rows may have been found elsewhere.
        public internal(set) var lostPages: [LostPage] = []
        /// The number of pages that are lost.
        public internal(set) var lostPageCount = 0

        init(name: String) { self.name = name }

        /// Whether all rows are in the table.
        public var isComplete: Bool { refusedRowCount == 0 && brokenRowCount == 0 && lostPageCount == 0 }
    }

    /// A table, index, view or trigger that couldn't be created.
    public struct LostObject: Sendable, CustomStringConvertible {
        /// `table`, `index`, `view` or `trigger`.
        public let type: String
        /// The name.
        public let name: String
        /// The text that creates the object.
        public let sql: String
        /// The error.
        public let error: DatabaseError

        /// The type, the name and the error.
        public var description: String { "\(type) \(name): \(error)" }
    }

    /// The path of the damaged file.
    public let source: String
    /// The path of the new file.
    public let target: String
    /// The size of a page, in bytes.
    public internal(set) var pageSize = 0
    /// The number of pages of the damaged file.
    public internal(set) var pageCount = 0
    /// Whether the first hundred bytes of the file contradict the format or the pages. The pages then tell their size
    /// and the encoding of text.
    public internal(set) var headerIsDamaged = false
    /// Whether a part of the schema can't be read: tables may be missing.
    public internal(set) var schemaIsDamaged = false
    /// The pages that can't be read, at most a thousand.
    public internal(set) var unreadablePages: [Int] = []
    /// The number of frames of the write-ahead log that were used, and of those that weren't: they belong to no
    /// finished commit, or follow a damaged one.
    public internal(set) var logFrames: (used: Int, ignored: Int) = (0, 0)
    /// The log and the journal, if a part of them can't be read: commits may be missing, or changes of a transaction
    /// that didn't end may be in the tables.
    public internal(set) var unreadableCompanions: [String] = []
    /// The number of pages that were taken from the journal of an unfinished transaction.
    public internal(set) var journalPageCount = 0
    /// Whether a connection has written to the file meanwhile: rows may be missing, or old.
    public internal(set) var sourceWasWritten = false
    /// The tables, in the order of the schema.
    public internal(set) var tables: [Table] = []
    /// The objects that couldn't be created, and virtual tables whose index couldn't be rebuilt.
    public internal(set) var lostObjects: [LostObject] = []
    /// The table of the rows that have no place in another table; nil if there are none.
    public internal(set) var lostAndFoundTable: String?
    /// The number of rows in that table.
    public internal(set) var lostAndFoundRowCount = 0
    /// The check of the new file.
    public internal(set) var integrity = IntegrityReport(level: .quick, problems: [])

    init(source: String, target: String) {
        self.source = source
        self.target = target
    }

    /// The number of rows in the tables of the new file, without the table of lost rows.
    public var savedRowCount: Int { tables.reduce(0) { $0 + $1.savedRowCount } }

    /// Whether nothing was lost.
    public var isComplete: Bool {
        !headerIsDamaged && !schemaIsDamaged && unreadablePages.isEmpty && unreadableCompanions.isEmpty
            && lostObjects.isEmpty && lostAndFoundRowCount == 0 && !sourceWasWritten && tables.allSatisfy(\.isComplete)
    }
}

extension SalvageReport: CustomStringConvertible {
    /// The report as lines of text.
    public var description: String {
        var lines = ["\(savedRowCount) rows of \(tables.count) tables saved"]
        if headerIsDamaged { lines.append("the header is damaged: pages of \(pageSize) bytes were inferred") }
        if schemaIsDamaged { lines.append("a part of the schema is lost") }
        if sourceWasWritten { lines.append("the file was written meanwhile") }
        lines += unreadableCompanions.map { "a part of \($0) can't be read" }
        if logFrames.ignored > 0 { lines.append("\(logFrames.ignored) frames of the write-ahead log were not used") }
        for table in tables where !table.isComplete || table.orphanedRowCount > 0 {
            var text = "\(table.name): \(table.savedRowCount) rows saved"
            if table.orphanedRowCount > 0 {
                text += ", \(table.orphanedRowCount) of them from pages that the tree has lost"
            }
            if table.refusedRowCount > 0 { text += "; \(table.refusedRowCount) refused" }
            if table.brokenRowCount > 0 { text += "; \(table.brokenRowCount) damaged" }
            lines.append(text)
            lines += table.lostPages.prefix(20).map { "  lost: \($0)" }
            if table.lostPageCount > 20 { lines.append("  lost: \(table.lostPageCount - 20) more pages") }
        }
        lines += lostObjects.map { "lost: \($0)" }
        if let lostAndFoundTable { lines.append("\(lostAndFoundRowCount) rows are in \(lostAndFoundTable)") }
        if !integrity.isIntact { lines.append("the new file: \(integrity)") }
        return lines.joined(separator: "\n")
    }
}

/// The progress of a salvage.
///
/// ```swift
/// try salvage.salvage(into: path) { progress in print("\(progress.phase): \(progress.savedRowCount) rows") }
/// ```
public struct SalvageProgress: Sendable, Hashable {
    /// A part of the work.
    public enum Phase: String, Sendable, Hashable {
        /// The schema is being read.
        case schema
        /// The rows of the tables are being copied.
        case tables
        /// Pages that no tree has are being searched for rows.
        case orphans
        /// Indexes, views and triggers are being made, and full-text indexes rebuilt.
        case objects
        /// The new file is being checked.
        case check
    }

    /// The part.
    public let phase: Phase
    /// The number of pages that were read; some are read several times.
    public let readPageCount: Int
    /// The number of pages of the damaged file.
    public let pageCount: Int
    /// The number of rows written.
    public let savedRowCount: Int
}
