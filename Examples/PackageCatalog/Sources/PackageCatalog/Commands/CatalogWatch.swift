import Foundation
import Quarry

/// `catalog watch` without its command line: imports, and prints the counts of the catalogue whenever they change; or
/// imports nothing, and follows the imports of other processes.
public struct CatalogWatch: Sendable {
    private let options: CatalogRun.Options
    private let follow: Follow?
    private let console: Console

    /// How to follow the imports of other processes.
    public struct Follow: Sendable {
        /// The time after which following ends; nil to follow until the task is cancelled.
        let seconds: Double?

        public init(seconds: Double? = nil) { self.seconds = seconds }
    }

    /// A run that hasn't begun, which writes to a console when it does.
    ///
    /// - parameter follow: nil to import.
    public init(_ options: CatalogRun.Options, follow: Follow? = nil, console: Console) {
        self.options = options
        self.follow = follow
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error.
    ///
    /// - returns: the exit status: 0; 1 after an error; 130 if the task was cancelled.
    public func run() async -> Int32 {
        await console.reportingErrors(database: options.place) { path in
            if let follow { try await run(follow, path: path) } else { try await run(path: path) }
        }
    }

    private func run(path: String) async throws {
        let selection = try await InputSelection(given: options.inputs, machine: options.machine)
        for error in selection.skipped { console.error("catalog: \(error)\n") }
        let catalog = try await options.open(path: path)
        let counts = catalog.liveCounts()
        let console = console
        let watching = Task {
            for try await counts in counts { console.output(counts.line + "\n") }
        }
        defer { watching.cancel() }
        let result = try await Importer(catalog: catalog, batchSize: options.batchSize).run(selection.files) { _ in }
        watching.cancel()
        _ = await watching.result
        console.output("\(try await catalog.counts().line)  (\(result.transactions.grouped) transactions)\n")
        try await catalog.close()
    }
}

extension CatalogWatch {
    /// Prints the counts whenever any process changes them.
    private func run(_ follow: Follow, path: String) async throws {
        let catalog = try await options.open(path: path)
        let console = console
        try await withThrowingTaskGroup { group in
            group.addTask {
                for try await counts in catalog.liveCounts() { console.output(counts.line + "\n") }
                // The loop also ends when its task is cancelled.
                try Task.checkCancellation()
            }
            if let seconds = follow.seconds { group.addTask { try await Task.sleep(for: .seconds(seconds)) } }
            try await group.next()
            group.cancelAll()
        }
        try await catalog.close()
    }
}

extension CatalogCounts {
    /// `1,000 packages  3,201 names  31 sections  250 maintainers  9,332 dependencies`
    var line: String {
        let counts = [
            ("packages", packages), ("names", names), ("sections", sections), ("maintainers", maintainers),
            ("dependencies", dependencies),
        ]
        return counts.map { "\($0.1.grouped) \($0.0)" }.joined(separator: "  ")
    }
}
