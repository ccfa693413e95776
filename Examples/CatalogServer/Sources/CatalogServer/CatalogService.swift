internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
internal import PackageCatalog
internal import Quarry
internal import QuarryInstrumentation
import QuarryRecovery
internal import ServiceLifecycle
internal import UnixSignals

/// A server of a catalogue's file, or of one on a cluster: from its migrations to its shutdown.
public struct CatalogService: Sendable {
    public var database: String
    /// Nodes of a dqlite cluster that has the catalogue, separated by commas; nil for a file. Then `database` is the
    /// name of the cluster's database.
    public var cluster: String?
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 8080
    /// The control files to import while the server already answers; nil for none, empty for those of the machine.
    public var imports: [String]?
    /// The folder of backups; nil for none. A cluster's are made by `quarry-node backup`.
    public var backups: String?
    /// How many backups are kept.
    public var keptBackups = 14
    /// The time between two backups.
    public var backupInterval = Duration.seconds(6 * 3600)
    public var limits = ServerLimits()

    /// A service that hasn't begun.
    ///
    /// - parameter database: the file, which is created if it is missing.
    public init(database: String) { self.database = database }

    /// Opens the catalogue, brings its tables up to date, and answers requests until SIGTERM or SIGINT.
    ///
    /// - parameter onListening: receives the port.
    public func run(logger: Logger, onListening: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        // Some connections are left to requests, whatever streams are open.
        let connections = max(16, DescriptorLimit.raised() - limits.otherDescriptors)
        var limits = limits
        limits.eventClients = min(limits.eventClients, connections * 3 / 4)
        // Half of the time is for the database.
        limits.importGrace = min(limits.importGrace, limits.gracePeriod / 4)
        limits.answerGrace = min(limits.answerGrace, limits.gracePeriod * 3 / 8)
        let readers = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let catalog = try await openCatalog(readers: readers) { configuration in
            configuration.maximumWaiters = limits.waiters
            configuration.acquireTimeout = limits.readTime.seconds
            configuration.statementTimeout = 60
        }
        let server = CatalogServer(catalog, limits: limits, logger: logger)
        let application = Application(
            router: server.makeRouter(), server: server.http,
            configuration: .init(
                address: .hostname(host, port: port), serverName: "catalog-server",
                availableConnectionsDelegate: MaximumAvailableConnections(connections, logger: logger)),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? port) }, logger: logger)
        let databaseService = DatabaseService(
            catalog.database, jobs: try jobs(of: server), gracePeriod: limits.gracePeriod / 2, logger: logger)
        // In the opposite order at the end: the last answer first, the database last.
        var configuration = ServiceGroupConfiguration(
            services: [databaseService] + server.services + [application],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = limits.gracePeriod
        try await ServiceGroup(configuration: configuration).run()
    }

    private func openCatalog(
        readers: Int, configure: (inout Configuration) -> Void
    ) async throws -> Catalog {
        guard let cluster else { return try await Catalog.open(path: database, readers: readers, configure: configure) }
        return try await Catalog.open(
            cluster: ClusterPlace(cluster, name: database), readers: readers, configure: configure)
    }

    private func jobs(of server: CatalogServer) throws -> [DatabaseService.Job] {
        var jobs: [DatabaseService.Job] = []
        if let imports {
            jobs.append(.init("imports") { await server.importFiles(imports) })
        }
        if let backups {
            var schedule = BackupSchedule(every: backupInterval)
            schedule.retention = BackupRetention(count: keptBackups)
            let folder = BackupFolder(
                path: backups, name: URL(fileURLWithPath: database).deletingPathExtension().lastPathComponent)
            let logger = server.logger
            let scheduled = try ScheduledBackups(of: server.catalog.database, in: folder, schedule: schedule) { event in
                switch event {
                case .made(let backup): logger.info("Backup made", metadata: ["path": "\(backup.path)"])
                case .pruned(let old): logger.info("Backups removed", metadata: ["count": "\(old.count)"])
                // The service logs it.
                case .failed: break
                }
            }
            jobs.append(.init("backups", scheduled))
        }
        return jobs
    }
}

extension CatalogServer {
    /// Imports files one after the other. A file that can't be imported is logged, and left out.
    ///
    /// - parameter paths: empty for the files of the machine.
    func importFiles(_ paths: [String]) async {
        do {
            let selection = try await InputSelection(given: paths, skippingUnreadable: true)
            for error in selection.skipped { logger.warning("A list is left out: \(error)") }
            for file in selection.files {
                let ticket = try await ticket(for: file)
                switch await runImport(of: file, ticket) {
                case .done(let done):
                    logger.info(
                        "Imported", metadata: ["source": "\(file.name)", "packages": "\(done.packageCount)"])
                case .failed(let failure):
                    // A shutdown cancels it, and the next start completes it.
                    let level = Task.isCancelled ? Logger.Level.info : .error
                    logger.log(level: level, "\(failure.reason)", metadata: ["source": "\(file.name)"])
                case .progress: break
                }
            }
        } catch is CancellationError {
        } catch {
            logger.error("The import has ended: \(error)")
        }
    }

    /// Waits until clients import neither this file nor as many as may run.
    private func ticket(for file: ControlFile) async throws -> ImportTicket {
        var isWaiting = false
        while true {
            try Task.checkCancellation()
            do {
                return try desk.begin(file.name, totalByteCount: file.byteCount)
            } catch let error as RequestError {
                if !isWaiting {
                    logger.info("An import waits: \(error.sentence)", metadata: ["source": "\(file.name)"])
                }
                isWaiting = true
            }
            try await Task.sleep(for: limits.importPause)
        }
    }
}

extension Duration {
    var seconds: Double { self / .seconds(1) }
}
