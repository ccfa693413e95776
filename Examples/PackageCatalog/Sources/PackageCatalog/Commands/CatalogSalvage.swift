import Foundation
import Quarry
import QuarryRecovery

/// `catalog salvage` without its command line: saves what can be read of a damaged file into a new one.
public struct CatalogSalvage: Sendable {
    private let damaged: String
    private let target: String
    private let console: Console

    /// A salvage that hasn't begun, which writes to a console when it does.
    ///
    /// - parameters:
    ///   - damaged: the damaged file, which is only read.
    ///   - target: the new file, which must not exist.
    public init(damaged: String, target: String, console: Console) {
        self.damaged = damaged
        self.target = target
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error. After an error there is no new file.
    ///
    /// - returns: the exit status: 0 if nothing was lost; 1 if something was, and after an error; 130 if the task was
    ///   cancelled.
    public func run() async -> Int32 { await console.reportingErrors(database: damaged) { _ in try await salvage() } }

    private func salvage() async throws -> Int32 {
        guard let isFolder = FileManager.default.isFolder(damaged) else { throw CatalogError.missing(path: damaged) }
        if isFolder { throw CatalogError.unreadableInput(path: damaged, reason: "it is a directory") }
        guard FileManager.default.isFolder(target) == nil else {
            throw CatalogError.existing(path: target, advice: "salvage into a new file")
        }
        let line = StatusLine(console)
        line.begin()
        defer { line.finish() }
        let report = try await CatalogError.naming {
            try await DatabaseSalvage(path: damaged).salvage(into: target) { progress in
                line.show { elapsed in progress.line(after: elapsed) }
            }
        }
        line.finish()
        // The stored counts are of rows that may be lost.
        let salvaged = try await DatabaseQueue.open(path: target)
        try await salvaged.write(CatalogSchema.recount)
        try await salvaged.closeAsync()
        for table in report.textTables { console.output("\(table)\n") }
        console.output(report.summary)
        return report.isComplete ? 0 : 1
    }
}

extension SalvageProgress {
    /// `tables  [#####...]  70 of 112 pages  0:01 left  1,234 rows`
    fileprivate func line(after elapsed: Duration) -> String {
        // Some pages are read several times.
        let pages = PageProgress(completed: min(readPageCount, pageCount), total: pageCount)
        return "\(phase.rawValue)  \(pages.line(after: elapsed))  \(savedRowCount.grouped) rows"
    }
}

extension SalvageReport {
    /// The rows of each table, and what is lost.
    fileprivate var textTables: [TextTable] {
        var all = [
            TextTable(
                "Salvaged rows",
                [
                    .left("table"), .right("saved"), .right("found on stray pages"), .right("refused"),
                    .right("broken"), .right("lost pages"),
                ],
                rows: tables.map { table in
                    [
                        table.name, table.savedRowCount.grouped, table.orphanedRowCount.grouped,
                        table.refusedRowCount.grouped, table.brokenRowCount.grouped, table.lostPageCount.grouped,
                    ]
                })
        ]
        let lost = tables.flatMap { table in table.lostPages.map { [table.name, $0.description] } }
        if !lost.isEmpty { all.append(TextTable("Lost pages", [.left("table"), .left("page")], rows: lost)) }
        if !lostObjects.isEmpty {
            all.append(
                TextTable(
                    "Lost objects", [.left("type"), .left("name"), .left("reason")],
                    rows: lostObjects.map { [$0.type, $0.name, $0.error.reason] }))
        }
        return all
    }

    fileprivate var summary: String {
        var lines = ["Salvaged \(source) into \(target): " + (isComplete ? "complete" : "incomplete")]
        lines.append("  \(savedRowCount.grouped) rows of \(tables.count.grouped) tables saved")
        if let lostAndFoundTable {
            lines.append("  \(lostAndFoundRowCount.grouped) rows without a place are in \(lostAndFoundTable)")
        }
        if headerIsDamaged { lines.append("  the header is damaged: pages of \(pageSize) bytes were inferred") }
        if schemaIsDamaged { lines.append("  a part of the schema is lost: tables may be missing") }
        if !unreadablePages.isEmpty { lines.append("  \(unreadablePages.count.grouped) pages can't be read") }
        lines += unreadableCompanions.map { "  a part of \($0) can't be read: commits may be missing" }
        if sourceWasWritten { lines.append("  the file was written meanwhile: salvage it again") }
        if !integrity.isIntact { lines.append("  problems of the new file: `catalog check` lists them") }
        return lines.joined(separator: "\n") + "\n"
    }
}
