import ArgumentParser
import CatalogServer
import Foundation
import Logging

@main
struct CatalogServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog-server", abstract: "Serve a catalogue of Debian packages over HTTP.",
        discussion: """
            Opens or creates the catalogue, brings its tables up to date, and answers until SIGTERM or Ctrl-C. Then \
            running requests end, the log is moved into the file, and the exit status is 0.
            """)

    @Option(help: ArgumentHelp("The catalogue.", valueName: "file"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "Nodes of a dqlite cluster that has the catalogue, instead of a file.",
            discussion: "Addresses, separated by commas. One that answers suffices.", valueName: "host:port,…"))
    var cluster: String?

    @Option(help: ArgumentHelp("The name of the cluster's database.", valueName: "name"))
    var databaseName = "catalog"

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port to listen on; 0 for a free one.", valueName: "n"))
    var port = 8080

    @Option(
        name: .customLong("import"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "Control files to import in the background; `machine` for those of this machine.", valueName: "files"))
    var imports: [String] = []

    @Option(help: ArgumentHelp("An existing folder in which backups are made every six hours.", valueName: "folder"))
    var backups: String?

    @Option(help: ArgumentHelp("Number of backups to keep.", valueName: "n"))
    var keep = 14

    @Option(help: ArgumentHelp("Number of seconds that a shutdown may take.", valueName: "n"))
    var grace = 10

    @Option(
        help: "The least severe messages to log: trace, debug, info, notice, warning, error, critical.",
        transform: level)
    var logLevel = Logger.Level.info

    func validate() throws {
        guard (database == nil) != (cluster == nil) else {
            throw ValidationError("Either --database or --cluster is needed.")
        }
        guard cluster == nil || backups == nil else {
            throw ValidationError("--backups needs a file. On a cluster: quarry-node backup copies the database.")
        }
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535, not \(port).") }
        guard keep >= 1 else { throw ValidationError("--keep must be at least 1, not \(keep).") }
        guard (1...3600).contains(grace) else { throw ValidationError("--grace must be 1 to 3600, not \(grace).") }
        if let backups {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: backups, isDirectory: &isFolder), isFolder.boolValue else {
                throw ValidationError("--backups needs an existing folder: \(backups).")
            }
        }
    }

    func run() async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "catalog-server")
        logger.logLevel = logLevel
        var service = CatalogService(database: database ?? databaseName)
        service.cluster = cluster
        service.host = host
        service.port = port
        service.imports = imports.isEmpty ? nil : imports.filter { $0 != "machine" }
        service.backups = backups
        service.keptBackups = keep
        service.limits.gracePeriod = .seconds(grace)
        do {
            try await service.run(logger: logger) { [host] port in
                FileHandle.standardOutput.write(Data("Listening on http://\(host):\(port)\n".utf8))
            }
        } catch {
            FileHandle.standardError.write(Data("catalog-server: \(error)\n".utf8))
            throw ExitCode.failure
        }
    }
}

private func level(_ name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("There is no level \(name).") }
    return level
}
