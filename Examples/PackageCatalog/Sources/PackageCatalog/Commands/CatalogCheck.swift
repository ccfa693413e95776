import Quarry
import QuarryRecovery

/// `catalog check` without its command line: looks for damage in the catalogue's file.
public struct CatalogCheck: Sendable {
    private let database: String?
    private let isQuick: Bool
    private let console: Console

    /// A check that hasn't begun, which writes to a console when it does.
    ///
    /// - parameters:
    ///   - database: nil for the file in the temporary directory.
    ///   - isQuick: whether indexes aren't compared with their tables.
    public init(database: String? = nil, isQuick: Bool = false, console: Console) {
        self.database = database
        self.isQuick = isQuick
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error.
    ///
    /// - returns: the exit status: 0 if nothing was found; 1 if there are problems, and after an error; 130 if the task
    ///   was cancelled.
    public func run() async -> Int32 {
        await console.reportingErrors(database: database) { path in try await run(path: path) }
    }

    private func run(path: String) async throws -> Int32 {
        let start = ContinuousClock.now
        let queue = try await Catalog.openFile(path: path)
        let line = StatusLine(console)
        line.begin()
        defer { line.finish() }
        let report = try await queue.checkIntegrity(isQuick ? .quick : .full) { step in
            line.show { _ in "checking \(step.name)" }
        }
        line.finish()
        try await queue.closeAsync()
        if report.isIntact {
            console.output("\(path): intact, checked in \((ContinuousClock.now - start).asMeasured)\n")
        } else {
            console.output("\(report.table(of: path))")
        }
        for table in report.uncheckedFullTextTables {
            console.error("catalog: \(path): \(table): its full-text index can't be checked\n")
        }
        if report.isDamaged {
            console.error("catalog: \(path): is damaged; `catalog salvage` saves what can be read\n")
        }
        return report.isIntact ? 0 : 1
    }
}

extension IntegrityStep {
    fileprivate var name: String {
        switch self {
        case .pages: "pages and indexes"
        case .foreignKeys: "foreign keys"
        case .fullText(let table): "the full-text index \(table)"
        }
    }
}

extension IntegrityReport {
    /// The problems, each with the index, table or page that has it.
    fileprivate func table(of path: String) -> TextTable {
        let rows =
            problems.map { problem in
                let place = problem.index ?? problem.table ?? problem.page.map { "page \($0)" } ?? ""
                return [problem.kind.rawValue, place, problem.message]
            }
            + foreignKeyViolations.map { ["foreign key", $0.originTable, $0.description] }
            + fullTextFailures.map { ["full text", $0.table, $0.error.reason] }
        return TextTable("Problems of \(path)", [.left("kind"), .left("place"), .left("problem")], rows: rows)
    }
}
