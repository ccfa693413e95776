import ArgumentParser
import Dispatch
import Foundation
import PackageCatalog

@main
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "Catalogue Debian packages in an SQLite database.",
        discussion: """
            Reads Debian control files: dpkg's status file, the package lists of apt, or any file given. Stores what \
            they say in one transaction for each batch, while readers query the growing catalogue, and then prints \
            what is in it. Running it again brings the catalogue up to date in place.

            Malformed stanzas are reported as file:line: reason on standard error, and skipped. The exit status is 0, \
            or 1 after an error, or 130 after Ctrl-C, which rolls back the batch in progress and keeps those before.
            """)

    @Argument(
        help: ArgumentHelp(
            "Control files to import, - for standard input.",
            discussion: """
                Default: /var/lib/dpkg/status and the lists in /var/lib/apt/lists. Compressed files are skipped; pipe \
                them in: xzcat Packages.xz | catalog -
                """,
            valueName: "file"))
    var inputs: [String] = []

    @Option(
        help: ArgumentHelp(
            "The catalogue.", discussion: "Default: a file of yours in the temporary directory.", valueName: "path"))
    var database: String?

    @Option(help: ArgumentHelp("Number of packages per transaction.", valueName: "n"))
    var batchSize = 500

    @Option(help: ArgumentHelp("Number of tasks that query the catalogue during the import.", valueName: "n"))
    var readers = 2

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

    @Option(
        help: ArgumentHelp(
            "Maximum number of pages of the database file, to simulate a full disk.", valueName: "n"))
    var maxPages: Int?

    func validate() throws {
        for (option, value, least) in [
            ("batch-size", batchSize, 1), ("readers", readers, 0), ("limit", limit, 1), ("max-pages", maxPages ?? 1, 1),
        ] where value < least {
            throw ValidationError("--\(option) must be at least \(least), not \(value).")
        }
    }

    func run() async throws {
        let options = CatalogRun.Options(
            inputs: inputs, database: database, batchSize: batchSize, readers: readers, lookup: lookup, search: search,
            limit: limit, maximumPages: maxPages)
        let run = CatalogRun(options, console: .standard)
        let task = Task { await run.run() }
        let interruption = Self.onInterrupt { task.cancel() }
        let status = await task.value
        interruption.cancel()
        if status != 0 { throw ExitCode(status) }
    }

    /// The first Ctrl-C ends the run in order, a second one at once.
    private static func onInterrupt(_ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "catalog.signals"))
        source.setEventHandler {
            signal(SIGINT, SIG_DFL)
            action()
        }
        source.resume()
        return source
    }
}

extension Console {
    static var standard: Console {
        Console(
            output: { FileHandle.standardOutput.write(Data($0.utf8)) },
            error: { FileHandle.standardError.write(Data($0.utf8)) },
            errorIsTerminal: isatty(STDERR_FILENO) == 1)
    }
}
