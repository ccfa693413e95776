import Foundation
import Quarry

/// The program without its command line: imports, lets readers query meanwhile, prints tables.
public struct CatalogRun: Sendable {
    /// The options of the command line, in the order of its help.
    public struct Options: Sendable {
        var inputs: [String]
        var database: String?
        var cluster: ClusterPlace?
        var batchSize: Int
        var readers: Int
        var lookup: String?
        var search: String?
        var limit: Int
        var maximumPages: Int?
        var machine = MachineFiles.debian

        /// - parameters:
        ///   - inputs: control files; none for those of the machine.
        ///   - database: nil for a file in the temporary directory.
        ///   - cluster: a database of a cluster, instead of a file.
        ///   - lookup: the package to look up; nil for the most depended-on.
        ///   - search: the words to search for; nil for no search.
        ///   - limit: how many rows a table shows.
        ///   - maximumPages: how many pages the database file may have.
        public init(
            inputs: [String] = [], database: String? = nil, cluster: ClusterPlace? = nil, batchSize: Int = 500,
            readers: Int = 2, lookup: String? = nil, search: String? = nil, limit: Int = 10, maximumPages: Int? = nil
        ) {
            self.inputs = inputs
            self.database = database
            self.cluster = cluster
            self.batchSize = batchSize
            self.readers = readers
            self.lookup = lookup
            self.search = search
            self.limit = limit
            self.maximumPages = maximumPages
        }

        /// The file or the cluster, as messages name it; nil for the file in the temporary directory.
        var place: String? { cluster?.description ?? database }

        /// Opens the cluster's database if there is one, or else the file at a path.
        func open(path: String) async throws -> Catalog {
            if let cluster { return try await Catalog.open(cluster: cluster, readers: readers) }
            return try await Catalog.open(path: path, readers: readers, maximumPages: maximumPages)
        }
    }

    private let options: Options
    private let console: Console

    /// A run that hasn't begun, which writes to a console when it does.
    public init(_ options: Options, console: Console) {
        self.options = options
        self.console = console
    }

    /// Runs, and reports an error in one line on standard error.
    ///
    /// - returns: the exit status: 0; 1 after an error; 130 if the task was cancelled.
    public func run() async -> Int32 {
        let reporter = ProgressReporter(console)
        var path = options.place ?? "the database"
        do {
            path = try options.place ?? DefaultDatabase.path()
            try await run(path: path, reporter: reporter)
            return 0
        } catch is CancellationError {
            let lost = reporter.isImporting ? ": the open transaction was rolled back" : ""
            reporter.say("catalog: interrupted\(lost)\(kept(reporter, in: path))")
            return 130
        } catch let error as DatabaseError {
            reporter.say("catalog: \(CatalogError(error, path: path))\(kept(reporter, in: path))")
        } catch {
            reporter.say("catalog: \(error)\(kept(reporter, in: path))")
        }
        return 1
    }

    private func kept(_ reporter: ProgressReporter, in path: String) -> String {
        let kept = reporter.latest.packages
        return kept == 0 ? "" : "; \(path) keeps the \(kept.grouped) packages stored before"
    }

    private func run(path: String, reporter: ProgressReporter) async throws {
        let selection = try await InputSelection(given: options.inputs, machine: options.machine)
        for error in selection.skipped { reporter.say("catalog: \(error)") }

        var steps = StepTimes()
        let clock = ContinuousClock()
        var start = clock.now
        let catalog = try await options.open(path: path)
        steps.add("open", 1, "database", in: clock.now - start)

        let importer = Importer(catalog: catalog, batchSize: options.batchSize)
        start = clock.now
        let (result, reads) = try await reporter.showing(catalog) {
            try await ReadLoad(catalog: catalog, readers: options.readers).run {
                try await importer.run(selection.files) { reporter.report($0) }
            }
        }
        let importTime = clock.now - start
        reporter.finish()
        steps.add("import", result.packages, "packages", in: importTime)
        steps.add("", result.rows, "rows", in: importTime)
        steps.add("", result.transactions, "transactions", in: importTime)
        steps.add("read meanwhile", reads.count, "reads", in: reads.elapsed)

        console.output("Imported into \(path)\n" + Self.summary(of: result) + "\n\n")
        try await print(CatalogReport(catalog: catalog, limit: options.limit), steps: &steps)
        try await catalog.close()
        console.output("\(steps.table)\n\(Self.end(of: result, reads))")
    }

    /// A sentence that says what the run has shown.
    static func end(of result: ImportProgress, _ reads: ReadLoad.Reads) -> String {
        func number(_ count: Int, _ noun: String) -> String { "\(count.grouped) \(noun)\(count == 1 ? "" : "s")" }
        let written =
            "\(number(result.packages, "package")) were written in \(number(result.transactions, "transaction"))"
        if reads.count == 0 { return "\(written).\n" }
        let perSecond = rate(reads.count, per: reads.elapsed).asRate
        return "While \(written), \(number(reads.count, "read")) were answered: \(perSecond) a second.\n"
    }

    private func print(_ report: CatalogReport, steps: inout StepTimes) async throws {
        var tables: [(step: String, make: () async throws -> TextTable)] = [
            ("counts", report.counts), ("largest packages", report.largestPackages),
            ("largest sections", report.largestSections), ("largest of each", report.largestBySection),
            ("most depended-on", report.mostDependedOn),
        ]
        var name = options.lookup
        if name == nil { name = try await report.catalog.mostDependedOn(limit: 1).first?.name }
        if let name {
            tables.append(("lookup", { try await report.lookup(name) }))
            tables.append(("dependency tree", { try await report.dependencyTree(name) }))
        }
        if let search = options.search { tables.append(("search", { try await report.search(search) })) }
        for (step, make) in tables {
            let start = ContinuousClock.now
            let table = try await make()
            steps.add(step, 1, "query", in: .now - start)
            console.output("\(table)\n")
        }
    }

    private static func summary(of result: ImportProgress) -> String {
        let stanzas = result.skipped == 1 ? "malformed stanza" : "malformed stanzas"
        return "  \(result.packages.grouped) packages: \(result.added.grouped) new, \(result.updated.grouped) updated, "
            + "\(result.removed.grouped) removed; \(result.skipped.grouped) \(stanzas) skipped"
    }
}

/// The database of a run that names none: a file in a folder of the user's own below the temporary directory.
enum DefaultDatabase {
    static func path() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/package-catalog-\(getuid())"
        // In a world-writable directory, another user's folder must not be used.
        guard mkdir(folder, 0o700) == 0 || (errno == EEXIST && isOurs(folder)) else {
            throw CatalogError.unwritable(path: folder, reason: "it can't be created, or belongs to another user")
        }
        return folder + "/catalog.sqlite"
    }

    private static func isOurs(_ folder: String) -> Bool {
        var status = stat()
        return lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
    }
}
