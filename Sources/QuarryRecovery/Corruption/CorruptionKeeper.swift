import Quarry
import QuarryCore

/// Learns of damage of a database's file, has it checked once, and does what the configuration says.
///
/// `CorruptionStateMachine` decides. Checks run on a thread of the library, and on a connection that can only read.
final class CorruptionKeeper: DatabasePart {
    private weak let core: DatabaseCore?
    private let state = Lock(CorruptionStateMachine())
    /// The setup that makes connections refuse writes.
    private let refusal = Lock<ConnectionSetups.Token?>(nil)

    init(_ core: DatabaseCore) { self.core = core }

    /// A statement has failed as with a damaged file. Called inside its access: nothing may wait here.
    package func connection(_ db: Database, didFailAsDamaged error: DatabaseError) {
        // Without a handler or a policy, a check would only keep the file open after the database is closed.
        guard db.configuration.handlesCorruption, let path = db.mainFilePath,
            let file = FileIdentity(path: path),
            state.withLock({ $0.errorDidHappen(file, now: db.clock.now) })
        else { return }
        let configuration = db.configuration
        inBackground { await self.check(path, file, error, configuration) }
    }

    /// A check of the program has found damage.
    func damageWasFound(_ integrity: IntegrityReport, path: String, _ configuration: Configuration) {
        guard let file = FileIdentity(path: path) else { return }
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
            FileIdentity(path: report.path) == report.file
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
        _ path: String, _ file: FileIdentity, _ error: DatabaseError, _ configuration: Configuration
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
        let report = state.withLock { $0.checkDidEnd(outcome, now: configuration.monotonicClock.now) }
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
            return try database.asAccess { db in
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
            let action = await decide(report)
            // The program may have restored the database meanwhile, and written to it.
            guard state.withLock({ $0.knownDamage?.file }) == report.file else {
                return tell(.repaired(report), configuration)
            }
            if action != .none { refuseWrites(report) }
            switch action {
            case .none, .readOnly: break
            case .quarantine: _ = try await quarantine(report, configuration)
            case .restore(let path):
                guard try await quarantine(report, configuration) else { return }
                try await restore(from: path, of: report, configuration)
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
        // It may have been restored meanwhile.
        if state.withLock({ $0.knownDamage?.file }) != report.file { databaseWasRestored() }
    }

    /// The database isn't damaged any more, and can be written: its content was replaced, or a check has found nothing.
    func databaseWasRestored() {
        state.withLock { $0.fileWasRestored() }
        guard let core, let token = refusal.withLock({ $0.take() }) else { return }
        core.setups.remove(token)
        core.setups.add(.atBeginning { db in db.refuseWrites(with: nil) })
    }

    /// Copies the damaged file, with its log, while the connection that writes does nothing.
    ///
    /// - returns: false if the file isn't damaged any more.
    private func quarantine(_ report: CorruptionReport, _ configuration: Configuration) async throws -> Bool {
        guard let writer = core?.runners?.writer else { throw DatabaseError.connectionIsClosed(report.path) }
        guard try integrity(report.path, configuration).isDamaged else {
            databaseWasRestored()
            tell(.repaired(report), configuration)
            return false
        }
        let copy = try await writer.perform(AccessRequest(.bare, origin: .library)) { _ in
            try Quarantine.copy(report.path, vfs: configuration.vfs)
        }
        tell(.quarantined(report, path: copy), configuration)
        return true
    }

    /// Replaces the content of the database by that of a backup, while no access runs.
    private func restore(from path: String, of report: CorruptionReport, _ configuration: Configuration) async throws {
        guard let core, let database = RestoredDatabase(core, path: report.path, configuration) else {
            throw DatabaseError.connectionIsClosed(report.path)
        }
        var restoration = try Restoration(of: database, path, .quick, FileOperations(), followsTask: false)
        // Another process may have restored the file first, and written to it.
        restoration.isNeeded = { try self.integrity(report.path, configuration).isDamaged }
        let isRestored = try await restoration.run(.library)
        tell(isRestored ? .restored(report, fromPath: path) : .repaired(report), configuration)
    }
}

extension DatabaseError {
    /// Whether the error says that a file is damaged, or is no database.
    var saysThatFileIsDamaged: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// Whether the error concerns a row or an object of the schema, and not the file or the task.
    var concernsRow: Bool {
        switch resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR, .SQLITE_AUTH, .SQLITE_RANGE: true
        default: false
        }
    }
}

extension DatabaseCore {
    /// Learns of damage of the file.
    var corruption: CorruptionKeeper { part(CorruptionKeeper.self) { CorruptionKeeper(self) } }

    /// Learns of damage of the file; nil if there has been no sign of any.
    var corruptionIfMade: CorruptionKeeper? { part(CorruptionKeeper.self) }
}
