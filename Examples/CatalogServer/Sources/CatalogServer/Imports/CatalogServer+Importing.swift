internal import Hummingbird
internal import Logging
internal import PackageCatalog
internal import Quarry
internal import ServiceLifecycle

extension CatalogServer {
    /// Imports a control file, and returns the last event: `done` or `failed`.
    ///
    /// An import that is cancelled keeps its transactions until then; the next import of the source completes it.
    ///
    /// - parameters:
    ///   - watch: runs meanwhile, and ends the import by an error.
    ///   - onProgress: called in the order of events.
    func runImport(
        of source: some ControlFileSource, _ ticket: ImportTicket,
        watch: (@Sendable () async throws -> Never)? = nil,
        onProgress: @escaping @Sendable (ImportAnswer) -> Void = { _ in }
    ) async -> ImportAnswer {
        let answer: ImportAnswer
        do {
            let late = RequestError.overloaded("The import took longer than \(limits.importTime).")
            answer = .done(
                try await withinBounds(limits.importTime, orThrow: late, watch: watch) {
                    try await run(source, ticket, onProgress)
                })
        } catch let error as RequestError {
            answer = .failed(.init(reason: error.sentence))
        } catch let error as DatabaseError {
            answer = .failed(.init(reason: RequestError(error).sentence))
            logger.error("Import failed: \(error)", metadata: ["source": "\(source.name.excerpt)"])
        } catch let error as CatalogError {
            answer = .failed(.init(reason: "\(error)"))
        } catch is CancellationError {
            answer = .failed(.init(reason: "The import was cancelled."))
        } catch {
            answer = .failed(.init(reason: "The server failed."))
            logger.error("Import failed: \(error)", metadata: ["source": "\(source.name.excerpt)"])
        }
        ticket.end(answer)
        return answer
    }

    /// Cancels an operation after a time, and a moment after the shutdown has begun.
    ///
    /// - parameter watch: runs meanwhile, and ends the operation by an error.
    func withinBounds<Value: Sendable>(
        _ time: Duration, orThrow late: RequestError, watch: (@Sendable () async throws -> Never)? = nil,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: time)
                throw late
            }
            if let watch { group.addTask { try await watch() } }
            group.addTask {
                try await Task.sleep(for: time)
                throw late
            }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: limits.importGrace)
                throw RequestError.shuttingDown
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    private func run(
        _ source: some ControlFileSource, _ ticket: ImportTicket,
        _ onProgress: @escaping @Sendable (ImportAnswer) -> Void
    ) async throws -> ImportAnswer.Done {
        var skipped: [ImportAnswer.Skipped] = []
        let result = try await Importer(catalog: catalog).run([source]) { event in
            switch event {
            case .malformed(_, let stanza):
                guard skipped.count < limits.skippedCount else { return }
                skipped.append(.init(line: stanza.line, reason: stanza.reason))
            case .stored(let stored):
                let progress = ImportAnswer.Progress(stored)
                ticket.progress(progress)
                onProgress(.progress(progress))
            }
        }
        return ImportAnswer.Done(result, skipped: skipped)
    }
}
