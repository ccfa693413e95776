import Foundation
import Quarry

/// `catalog stats` without its command line: imports, or only opens the catalogue, and prints the database's
/// statistics.
public struct CatalogStats: Sendable {
    /// The work that the statistics are of.
    public enum Work: Sendable {
        /// An import, and the readers that query meanwhile.
        case importing
        /// A catalogue that is opened and counted.
        case opening
    }

    private let options: CatalogRun.Options
    private let work: Work
    private let slow: Double?
    private let console: Console

    /// A run that hasn't begun, which writes to a console when it does.
    ///
    /// - parameters:
    ///   - slow: the milliseconds from which on a statement is shown with its plan; nil for no statement.
    public init(_ options: CatalogRun.Options, work: Work = .importing, slow: Double? = nil, console: Console) {
        self.options = options
        self.work = work
        self.slow = slow
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error.
    ///
    /// - returns: the exit status: 0; 1 after an error; 130 if the task was cancelled.
    public func run() async -> Int32 {
        await console.reportingErrors(database: options.place) { path in
            switch work {
            case .importing: try await runImport(path: path)
            case .opening: try await runOpening(path: path)
            }
            return 0
        }
    }

    private func runImport(path: String) async throws {
        let selection = try await InputSelection(given: options.inputs, machine: options.machine)
        for error in selection.skipped { console.error("catalog: \(error)\n") }
        let catalog = try await open(path)
        let before = catalog.database.statistics
        let importer = Importer(catalog: catalog, batchSize: options.batchSize)
        let (result, reads) = try await ReadLoad(catalog: catalog, readers: options.readers).run {
            try await importer.run(selection.files) { _ in }
        }
        console.output(
            "Imported \(result.packages.grouped) packages in \(result.transactions.grouped) transactions, beside "
                + "\(reads.count.grouped) reads\n\n")
        print(catalog.database.statistics.since(before))
        try await catalog.close()
    }

    private func runOpening(path: String) async throws {
        guard options.cluster != nil || FileManager.default.fileExists(atPath: path) else {
            throw CatalogError.missing(path: path)
        }
        let catalog = try await open(path)
        console.output("\(try await catalog.counts().line)\n\n")
        print(catalog.database.statistics)
        try await catalog.close()
    }

    private func open(_ path: String) async throws -> Catalog {
        let catalog = try await options.open(path: path)
        if let slow { catalog.database.addTracer(SlowStatements(milliseconds: slow, console: console)) }
        return catalog
    }

    private func print(_ statistics: DatabaseStatistics) {
        console.output(statistics.textTables.map(\.description).joined(separator: "\n"))
    }
}

/// Shows slow statements with their plans on standard error.
struct SlowStatements: DatabaseTracer {
    let options: DatabaseTracing.Options
    private let console: Console

    init(milliseconds: Double, console: Console) {
        var options = DatabaseTracing.Options(.slowStatements)
        options.slowStatementThreshold = .milliseconds(milliseconds)
        self.options = options
        self.console = console
    }

    func receive(_ event: DatabaseTraceEvent) {
        guard case .slowStatement(let slow) = event else { return }
        let statement = slow.statement
        let sql = statement.sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        var lines = ["catalog: slow: \(statement.duration.asMeasured), \(statement.rowCount.grouped) rows: \(sql)"]
        if let plan = slow.plan, !plan.nodes.isEmpty { lines += "\(plan)".split(separator: "\n").map { "  \($0)" } }
        console.error(lines.map { $0.printable + "\n" }.joined())
    }
}
