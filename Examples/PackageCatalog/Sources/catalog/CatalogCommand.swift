import ArgumentParser
import Dispatch
import Foundation
import PackageCatalog

@main
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog", abstract: "Catalogue Debian packages in an SQLite database.",
        subcommands: [
            ImportCommand.self, WatchCommand.self, StatsCommand.self, BackupCommand.self, RestoreCommand.self,
            CheckCommand.self, SalvageCommand.self,
        ], defaultSubcommand: ImportCommand.self)
}

/// The catalogue of a command.
struct DatabaseOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The catalogue.", discussion: "Default: a file of yours in the temporary directory.", valueName: "path"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "Nodes of a dqlite cluster that has the catalogue, instead of a file.",
            discussion: "Addresses, separated by commas. One that answers suffices.",
            valueName: "host:port,…"))
    var cluster: String?

    @Option(help: ArgumentHelp("The name of the cluster's database. Default: catalog.", valueName: "name"))
    var databaseName: String?

    func validate() throws {
        guard database == nil || cluster == nil else { throw ValidationError("--cluster has no --database.") }
        guard databaseName == nil || cluster != nil else { throw ValidationError("--database-name needs --cluster.") }
    }

    /// The cluster; nil for a file.
    var place: ClusterPlace? { cluster.map { ClusterPlace($0, name: databaseName ?? "catalog") } }

    /// Throws for a cluster.
    ///
    /// - parameter instead: the way to the same end on a cluster.
    func requireFile(instead: String) throws {
        guard cluster == nil else { throw ValidationError("This command needs a file. On a cluster: \(instead).") }
    }
}

/// The options of all commands that import.
struct ImportOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Control files to import, - for standard input.",
            discussion: """
                Default: /var/lib/dpkg/status and the lists in /var/lib/apt/lists. Files that end in .gz, .xz, .lz4, \
                .zst, .bz2 or .lzma are decompressed by the machine's programs.
                """,
            valueName: "file"))
    var inputs: [String] = []

    @OptionGroup
    var catalogue: DatabaseOption

    @Option(help: ArgumentHelp("Number of packages that are read before they are stored.", valueName: "n"))
    var batchSize = 500

    @Option(help: ArgumentHelp("Number of tasks that query the catalogue during the import.", valueName: "n"))
    var readers = 2

    @Option(
        help: ArgumentHelp(
            "Maximum number of pages of the database file, to simulate a full disk.", valueName: "n"))
    var maxPages: Int?

    func validate() throws {
        try check([("batch-size", batchSize, 1), ("readers", readers, 0), ("max-pages", maxPages ?? 1, 1)])
        guard catalogue.cluster == nil || maxPages == nil else {
            throw ValidationError("--max-pages is of a file: not with --cluster.")
        }
    }

    /// The options of a run that prints nothing of the catalogue.
    var runOptions: CatalogRun.Options {
        CatalogRun.Options(
            inputs: inputs, database: catalogue.database, cluster: catalogue.place, batchSize: batchSize,
            readers: readers, maximumPages: maxPages)
    }
}

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import packages, and print what is in the catalogue. The default.",
        discussion: """
            Reads Debian control files: dpkg's status file, the package lists of apt, or any file given. Stores what \
            they say in steps, between which other programs may write, while readers query the growing catalogue, and \
            then prints what is in it. Running it again brings the catalogue up to date in place.

            Malformed stanzas are reported as file:line: reason on standard error, and skipped. The exit status is 0, \
            or 1 after an error, or 130 after Ctrl-C, which rolls back the open transaction and keeps those before.
            """)

    @OptionGroup
    var options: ImportOptions

    @Option(
        help: ArgumentHelp(
            "The package to look up.", discussion: "Default: the most depended-on.", valueName: "name"))
    var lookup: String?

    @Option(
        help: ArgumentHelp(
            "Words to search for in names and descriptions.",
            discussion: "Finds packages with all of these words or prefixes, best match first.", valueName: "text"))
    var search: String?

    @Option(help: ArgumentHelp("Number of rows per printed table.", valueName: "n"))
    var limit = 10

    func validate() throws { try check([("limit", limit, 1)]) }

    func run() async throws {
        let run = CatalogRun(
            CatalogRun.Options(
                inputs: options.inputs, database: options.catalogue.database, cluster: options.catalogue.place,
                batchSize: options.batchSize, readers: options.readers, lookup: lookup, search: search, limit: limit,
                maximumPages: options.maxPages), console: .standard)
        try await endingOnInterrupt { await run.run() }
    }
}

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Import packages, and print how many there are whenever that changes.")

    @OptionGroup
    var options: ImportOptions

    @Flag(help: "Import nothing, and follow the imports of other processes.")
    var follow = false

    @Option(
        help: ArgumentHelp("Seconds after which --follow ends.", discussion: "Default: until Ctrl-C.", valueName: "n"))
    var seconds: Double?

    func validate() throws {
        guard seconds == nil || follow else { throw ValidationError("--seconds needs --follow.") }
        if let seconds, !(seconds >= 0) {
            throw ValidationError("--seconds must be at least 0, not \(seconds).")
        }
    }

    func run() async throws {
        let watch = CatalogWatch(
            options.runOptions, follow: follow ? CatalogWatch.Follow(seconds: seconds) : nil, console: .standard)
        try await endingOnInterrupt { await watch.run() }
    }
}

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Import packages, and print what the database did.",
        discussion: """
            Prints the statistics of the database: its connections, how long accesses waited for them and held them, \
            transactions, statements, page caches, the log. Readers query the catalogue during the import.
            """)

    @OptionGroup
    var options: ImportOptions

    @Flag(help: "Import nothing: open and count the catalogue.")
    var open = false

    @Option(
        help: ArgumentHelp(
            "Milliseconds from which on a statement is slow.",
            discussion: "Shows each slow statement with its plan on standard error.", valueName: "milliseconds"))
    var slow: Double?

    func validate() throws {
        guard options.inputs.isEmpty || !open else { throw ValidationError("--open imports no files.") }
        if let slow, !(slow >= 0) { throw ValidationError("--slow must be at least 0, not \(slow).") }
    }

    func run() async throws {
        let stats = CatalogStats(
            options.runOptions, work: open ? .opening : .importing, slow: slow, console: .standard)
        try await endingOnInterrupt { await stats.run() }
    }
}

func check(_ values: [(option: String, value: Int, least: Int)]) throws {
    for (option, value, least) in values where value < least {
        throw ValidationError("--\(option) must be at least \(least), not \(value).")
    }
}

/// Runs a command in a task that the first Ctrl-C cancels; a second one ends the process at once.
func endingOnInterrupt(_ run: @escaping @Sendable () async -> Int32) async throws {
    let task = Task { await run() }
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "catalog.signals"))
    source.setEventHandler {
        signal(SIGINT, SIG_DFL)
        task.cancel()
    }
    source.resume()
    let status = await task.value
    source.cancel()
    if status != 0 { throw ExitCode(status) }
}

extension Console {
    static var standard: Console {
        Console(
            output: { FileHandle.standardOutput.write(Data($0.utf8)) },
            error: { FileHandle.standardError.write(Data($0.utf8)) },
            errorIsTerminal: isatty(STDERR_FILENO) == 1)
    }
}
