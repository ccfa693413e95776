// A transaction that several writes share, one after the other:
//
//     BEGIN IMMEDIATE TRANSACTION     first part
//     INSERT INTO player …
//     SAVEPOINT quarry                later part
//     INSERT INTO player …
//     RELEASE SAVEPOINT quarry
//     COMMIT TRANSACTION
//
// Each part is an access of its own, on a thread of its own. SQLite rolls the whole transaction back if a change inside
// a savepoint is interrupted (https://www.sqlite.org/c3ref/interrupt.html), so cancelling a later part doesn't
// interrupt changes.

/// The end of a part of a transaction that writes share.
package enum PartEnd {
    /// The part's changes are kept until the transaction ends.
    case kept
    /// The part's changes were rolled back. The transaction is still open.
    case undone
    /// The transaction has ended, and was rolled back.
    case lost
    /// The transaction has ended, and was committed by a statement that isn't known to end transactions.
    case committed
}

extension Database {
    /// The number of changed rows above which no other write joins.
    private static var maximumSharedChangeCount: Int { 10_000 }

    /// Takes the connection for a write that joins the open transaction. A cancellation raises a flag only.
    package func joinTransaction(_ token: AccessToken) throws {
        access.begin(error: try lifetime.take())
        lifetime.publish(access: access.number)
        if access.follow(.uninterrupted(token)) { installCancellation() }
    }

    /// Begins a transaction that other writes may join, and runs its first part.
    ///
    /// An error of `body` rolls the transaction back.
    package func runFirstPart<T>(_ body: (Database) throws -> T) -> (result: Result<T, any Error>, end: PartEnd) {
        do {
            try beginTransaction(.immediate)
        } catch {
            return (.failure(error), .lost)
        }
        openTransaction.parts = TransactionParts(totalChanges: currentTotalChanges)
        openTransaction.state.wrapperDidBegin()
        hooks.countRollbacks()
        do {
            let value = try runPart(body)
            return (.success(value), .kept)
        } catch {
            // The first error counts.
            openTransaction.state.wrapperWillEnd()
            try? rollback()
            return (.failure(error), .lost)
        }
    }

    /// Runs a later part, in a savepoint. Its error rolls back the savepoint.
    package func runLaterPart<T>(_ body: (Database) throws -> T) -> (result: Result<T, any Error>, end: PartEnd) {
        let handlerCount = openTransaction.nextHandlers.count
        openTransaction.seconds = Result { try currentSeconds() }
        openTransaction.state.isShared = true
        do {
            if access.isCancelled { throw CancellationError() }
            try run(.savepoint)
        } catch {
            openTransaction.state.isShared = false
            return (.failure(error), endOfFailedPart(isUndone: isInsideTransaction))
        }
        do {
            let value = try runPart(body)
            // COMMIT would find the violations, and roll all parts back.
            if hasDeferredForeignKeyViolations { throw DatabaseError.violatedForeignKeys() }
            stopAllStatements()
            openTransaction.state.isShared = false
            try endSavepoints(above: 0) { try run(.releaseSavepoint) }
            return (.success(value), .kept)
        } catch {
            openTransaction.state.isShared = false
            // A query whose rows weren't all read has called a C function that ends the transaction.
            if hasUntoldEnd { noteUntoldEnd() }
            if openTransaction.parts.overrun != nil { setOverrun(nil) }
            let isUndone = isInsideTransaction && undoPart()
            // The handlers are told of a rollback, whatever comes of the other parts.
            for index in openTransaction.nextHandlers.indices.dropFirst(handlerCount) {
                openTransaction.nextHandlers[index].onCommit = openTransaction.nextHandlers[index].onRollback
            }
            return (.failure(error), endOfFailedPart(isUndone: isUndone))
        }
    }

    private func runPart<T>(_ body: (Database) throws -> T) throws -> T {
        let value = takeTiming() ? try timed(body) : try body(self)
        if openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(pointer)) {
            throw abortedTransactionError()
        }
        if access.isCancelled { throw CancellationError() }
        if let overrun = openTransaction.parts.overrun { throw overrun }
        return value
    }

    private func undoPart() -> Bool {
        do {
            try endSavepoints(above: 0) { try rollbackToSavepoint() }
            return true
        } catch {
            openTransaction.parts.undoError = error
            return false
        }
    }

    /// The reason why the transaction of all parts was rolled back.
    ///
    /// - parameter error: the error of the last part.
    package func reasonOfLoss(_ error: any Error) -> any Error { openTransaction.parts.undoError ?? error }

    private func endOfFailedPart(isUndone: Bool) -> PartEnd {
        guard !isUndone else { return .undone }
        openTransaction.state.wrapperWillEnd()
        if openTransaction.state.wasCommitted { return .committed }
        try? rollback()
        return .lost
    }

    /// Whether another write may join the open transaction, after the part that has just ended.
    package var mayBeJoined: Bool {
        // The handlers belong to this access. An observer may refuse the commit. A savepoint that the first part has
        // left open could be rolled back by another.
        !openTransaction.parts.hasRunOther && openTransaction.nextHandlers.isEmpty
            && changeMonitor?.observers.isEmpty ?? true
            && openTransaction.savepoints.depth == 0 && !hasPendingSetups && !hasDeferredForeignKeyViolations
            && currentTotalChanges - openTransaction.parts.totalChanges
                < Self.maximumSharedChangeCount
    }

    /// Leaves the connection, and the open transaction, to the next part.
    ///
    /// - parameter keepsPart: whether the changes of the part that has just ended are kept.
    /// - returns: the error of a method that can't throw, or of a change whose cursor was stopped.
    package func leaveTransaction(keepsPart: Bool) -> (any Error)? {
        if keepsPart { openTransaction.parts.keptCount += 1 }
        stopAllStatements()
        let error = access.takeError()
        suspendAccess()
        return error
    }

    /// Commits the transaction of all parts, or rolls it back if that fails.
    ///
    /// - parameter keepsPart: whether the changes of the part that has just ended are kept.
    package func commitParts(keepsPart: Bool) throws {
        openTransaction.state.wrapperWillEnd()
        guard openTransaction.parts.keptCount > 0 else { return try commitOrRollBack() }
        commitNote = CommitNote(
            ofParts: openTransaction.parts.keptCount + (keepsPart ? 1 : 0), last: keepsPart ? commitNote : nil)
        defer { commitNote = nil }
        // The others have their results, and only wait for the disk.
        try withoutCancellation { try commitOrRollBack() }
    }

    private func commitOrRollBack() throws {
        do {
            try commit()
        } catch {
            // The first error counts.
            try? rollback()
            throw error
        }
    }
}

extension DatabaseError {
    /// The error of SQLite for a COMMIT that would violate deferred foreign keys.
    fileprivate static func violatedForeignKeys() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed",
            sql: ControlStatement.commit.sql)
    }
}
