import QuarryCore

/// Learns of damage of a database's file, has it checked once, and does what the configuration says.
///
/// `CorruptionStateMachine` decides. Checks run on a thread of the library, and on a connection that can only read.
final class CorruptionKeeper: Sendable {
    private weak let core: DatabaseCore?
    private let state = Lock(CorruptionStateMachine())
    /// The setup that makes connections refuse writes.
    private let refusal = Lock<ConnectionSetups.Token?>(nil)

    init(_ core: DatabaseCore) { self.core = core }

    /// A statement has failed as with a damaged file. Called inside its access: nothing may wait here.
    func connection(_ db: Database, didFailWith error: DatabaseError) {
        // A check for nobody would only keep the file open, beyond the life of the database.
        guard db.configuration.handlesCorruption, let path = db.mainFilePath,
            let file = CorruptionReport.FileIdentity(path: path),
            state.withLock({ $0.errorDidHappen(file, now: SystemClock.monotonicNanoseconds()) })
        else { return }
        let configuration = db.configuration
        inBackground { await self.check(path, file, error, configuration) }
    }

    /// A check of the program has found damage.
    func damageWasFound(_ integrity: IntegrityReport, path: String, _ configuration: Configuration) {
        guard let file = CorruptionReport.FileIdentity(path: path) else { return }
        let message = integrity.problems.first?.message ?? integrity.fullTextFailures.first?.description
        let report = CorruptionReport(
            path: path, label: configuration.label,
            error: DatabaseError(resultCode: .SQLITE_CORRUPT, message: message), integrity: integrity, file: file)
        guard state.withLock({ $0.damageWasFound(report) }) else { return }
        inBackground { await self.handle(report, configuration) }
    }

    /// The known damage of the file that has the path now.
    var knownDamage: CorruptionReport? {
        guard let report = state.withLock({ $0.knownDamage }),
            CorruptionReport.FileIdentity(path: report.path) == report.file
        else { return nil }
        return report
    }

    /// Runs work that may block, on a thread of the library.
    private func inBackground(_ body: @escaping @Sendable () async -> Void) {
        let workers = WorkerThreads(connectionCount: 1)
        Task.detached(executorPreference: workers) {
            await body()
            workers.shutDown()
        }
    }

    // MARK: - Checking

    private func check(
        _ path: String, _ file: CorruptionReport.FileIdentity, _ error: DatabaseError, _ configuration: Configuration
    ) async {
        let outcome: CorruptionStateMachine.Outcome
        do {
            let integrity = try integrity(path, configuration)
            outcome =
                integrity.isDamaged
                ? .damaged(
                    CorruptionReport(
                        path: path, label: configuration.label, error: error, integrity: integrity, file: file))
                : .intact
        } catch {
            outcome = .failed
            tell(.failed(path: path, error), configuration)
        }
        let report = state.withLock { $0.checkDidEnd(outcome, now: SystemClock.monotonicNanoseconds()) }
        if let report { return await handle(report, configuration) }
        if case .intact = outcome { tell(.falseAlarm(error), configuration) }
    }

    private func integrity(_ path: String, _ configuration: Configuration) throws -> IntegrityReport {
        do {
            var configuration = configuration
            configuration.acceptsURIs = false
            configuration.statementTimeout = nil
            let database = try configuration.open(path: path, readonly: true)
            defer { try? database.close() }
            return try AccessRunner.frame(database, nil) { db in
                try core?.setups.prepare(db)
                let report = try db.integrityReport(.full, maximumProblems: 100) { _ in }
                let (failures, unchecked) = try db.checkFullText(writes: false) { _ in }
                return report.adding(failures, unchecked: unchecked)
            }
        } catch let error as DatabaseError where error.saysThatFileIsDamaged {
            return IntegrityReport(level: .full, unreadable: error)
        }
    }

    // MARK: - Reacting

    private func tell(_ event: CorruptionEvent, _ configuration: Configuration) {
        configuration.corruptionHandler?(event)
    }

    private func handle(_ report: CorruptionReport, _ configuration: Configuration) async {
        // Before the report, so that its receiver finds the database read-only.
        if case .readOnly = configuration.corruptionPolicy { refuseWrites(report) }
        tell(.confirmed(report), configuration)
        guard case .handle(let decide) = configuration.corruptionPolicy else { return }
        do {
            switch await decide(report) {
            case .none: break
            case .readOnly: refuseWrites(report)
            case .quarantine:
                refuseWrites(report)
                try await quarantine(report, configuration)
            case .restore(let path):
                refuseWrites(report)
                try await quarantine(report, configuration)
                try await restore(from: path, of: report, configuration)
                tell(.restored(report, fromPath: path), configuration)
            }
        } catch {
            tell(.failed(path: report.path, error), configuration)
        }
    }

    /// Makes the connections of the database refuse writes, as long as the path has the damaged file.
    private func refuseWrites(_ report: CorruptionReport) {
        guard let core else { return }
        let error = DatabaseError(
            resultCode: .SQLITE_CORRUPT,
            message: "\(report.label ?? report.path) is damaged, and can only be read (Configuration.corruptionPolicy)")
        let token = core.setups.add(.atBeginning { db in db.refuseWrites(with: error) })
        refusal.withLock { $0 = token }
    }

    /// The content of the database was replaced: it isn't damaged any more, and can be written.
    func databaseWasRestored() {
        state.withLock { $0.fileWasRestored() }
        guard let core, let token = refusal.withLock({ $0.take() }) else { return }
        core.setups.remove(token)
        core.setups.add(.atBeginning { db in db.refuseWrites(with: nil) })
    }

    /// Copies the damaged file, with its log, while the connection that writes does nothing.
    private func quarantine(_ report: CorruptionReport, _ configuration: Configuration) async throws {
        guard let writer = core?.runners?.writer else { throw DatabaseError.connectionIsClosed() }
        let quarantine = Quarantine(of: report.path, vfs: configuration.vfs, FileOperations())
        let copy = quarantine.newPath()
        try await writer.perform(AccessRequest(.bare, origin: .library)) { _ in try quarantine.copy(to: copy) }
        tell(.quarantined(report, path: copy), configuration)
    }

    /// Replaces the content of the database by that of a backup, while no access runs.
    private func restore(from path: String, of report: CorruptionReport, _ configuration: Configuration) async throws {
        guard let core, let database = RestoredDatabase(core, path: report.path, configuration) else {
            throw DatabaseError.connectionIsClosed()
        }
        let restoration = try Restoration(of: database, path, .quick, FileOperations(), followsTask: false)
        try await restoration.run(.library)
    }
}

extension DatabaseError {
    /// Whether the error says that a file is damaged, or is no database.
    var saysThatFileIsDamaged: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
