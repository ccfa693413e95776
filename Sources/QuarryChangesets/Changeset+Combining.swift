import QuarryCore

extension ChangesetCalls {
    /// - throws: an error that names the missing option of this build of SQLite.
    static func checkAvailable() throws(DatabaseError) {
        guard SessionHandle.isAvailable else {
            throw DatabaseError(message: "this build of SQLite has no session extension (SQLITE_ENABLE_SESSION)")
        }
    }

    /// The result of a function that makes bytes.
    static func result(
        _ outcome: (code: CInt, bytes: [UInt8]), _ operation: String
    ) throws(DatabaseError) -> [UInt8] {
        try check(outcome.code, operation)
        return outcome.bytes
    }

    static func check(_ code: CInt, _ operation: String) throws(DatabaseError) {
        if code != ResultCode.SQLITE_OK.rawValue { throw error(ResultCode(rawValue: code), operation) }
    }

    static func error(_ code: ResultCode, _ operation: String) -> DatabaseError {
        let reason =
            code == .SQLITE_SCHEMA
            ? "a table has other columns or another primary key" : SQLiteLibrary.errorString(code.rawValue)
        return DatabaseError(resultCode: code, message: "\(operation): \(reason)")
    }

    static func concatenate(_ first: [UInt8], _ second: [UInt8]) throws -> [UInt8] {
        if first.isEmpty { return second }
        if second.isEmpty { return first }
        try checkAvailable()
        let operation = "could not concatenate changesets"
        guard let group = ChangegroupHandle() else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        try check(group.add(first), operation)
        try check(group.add(second), operation)
        return try result(group.output(), operation)
    }
}

extension Changeset {
    /// The changeset that takes this one back.
    ///
    /// ```swift
    /// try dbQueue.write { db in try db.apply(changeset.inverted()) }
    /// ```
    ///
    /// See <https://www.sqlite.org/session/sqlite3changeset_invert.html>.
    ///
    /// - throws: `SQLITE_NOMEM`; an error that says so if this build of SQLite has no session extension.
    public func inverted() throws -> Changeset {
        guard !bytes.isEmpty else { return self }
        try ChangesetCalls.checkAvailable()
        return Changeset(
            unchecked: try ChangesetCalls.result(ChangesetCalls.invert(bytes), "could not invert a changeset"))
    }

    public func concatenated(with next: Changeset) throws -> Changeset {
        Changeset(unchecked: try ChangesetCalls.concatenate(bytes, next.bytes))
    }

    /// The same changes without the old values.
    ///
    /// ```swift
    /// send(changeset.patchset.bytes)
    /// ```
    public var patchset: Patchset {
        var reader = ChangesetReader(bytes, .changeset)
        var writer = PatchsetWriter()
        // The bytes were checked when the changeset was made.
        while let change = try? reader.nextStored() { writer.append(change, bytes) }
        return Patchset(unchecked: writer.bytes)
    }
}

extension Patchset {
    public func concatenated(with next: Patchset) throws -> Patchset {
        Patchset(unchecked: try ChangesetCalls.concatenate(bytes, next.bytes))
    }
}

extension Changeset {
    /// The resolutions of the conflicts that `apply` has met, so that local changes can be rebased.
    ///
    /// ```swift
    /// let applied = try db.apply(remote) { conflict in .replace }
    /// let rebased = try local.rebased(on: applied.rebaseInformation)
    /// ```
    ///
    /// The bytes may be stored until the local changes are sent.
    public struct RebaseInformation: Hashable, Sendable {
        /// The bytes, in SQLite's format.
        public let bytes: [UInt8]

        /// Information without conflicts.
        public init() { bytes = [] }

        /// Checks bytes that were stored.
        ///
        /// - throws: `SQLITE_CORRUPT` for other bytes.
        public init(bytes: [UInt8]) throws {
            try ChangesetReader.check(bytes, .changeset, allowsUndefined: true)
            self.bytes = bytes
        }

        init(unchecked bytes: [UInt8]) { self.bytes = bytes }

        /// Whether no conflict was resolved, so that rebasing changes nothing.
        public var isEmpty: Bool { bytes.isEmpty }
    }

    /// The local changes as if they had been made after the remote changes, which other databases have already.
    ///
    /// ```swift
    /// let applied = try db.apply(remote) { conflict in .replace }
    /// try send(local.rebased(on: applied.rebaseInformation))
    /// ```
    ///
    /// A local change that has lost a conflict against a remote one is left out. A winner gets the remote
    /// values as its old values, so that it applies without conflict where the remote changes were applied before. See
    /// <https://www.sqlite.org/session/rebaser.html>.
    ///
    /// - parameter applied: the information of each remote changeset that was applied since the local changes were
    ///   made, the oldest first.
    /// SQLite keeps the columns of a local update as they are. If a remote update of the same row was omitted that also
    /// sets other columns, these would differ afterwards, so this throws. Resolve such a conflict by `.replace`, and
    /// make the local change again.
    ///
    /// - throws: `DatabaseError`: `SQLITE_SCHEMA` if a table has other columns in the local changes; `SQLITE_MISUSE`
    ///   for an omitted update whose columns the local update doesn't all set; `SQLITE_NOMEM`; an error that says so if
    ///   this build of SQLite has no session extension.
    public func rebased(on applied: RebaseInformation...) throws -> Changeset { try rebased(on: applied) }

    /// The local changes as if they had been made after the remote changes.
    ///
    /// - throws: the errors of `rebased(on:)` with one argument.
    public func rebased(on applied: [RebaseInformation]) throws -> Changeset {
        let applied = applied.filter { !$0.isEmpty }
        guard !bytes.isEmpty, !applied.isEmpty else { return self }
        try ChangesetCalls.checkAvailable()
        let operation = "could not rebase a changeset"
        try checkColumns(applied, operation)
        try checkOmissions(applied, operation)
        guard let rebaser = RebaserHandle() else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        for information in applied { try ChangesetCalls.check(rebaser.configure(information.bytes), operation) }
        return Changeset(unchecked: try ChangesetCalls.result(rebaser.rebase(bytes), operation))
    }

    /// Throws if a remote update was omitted that sets a column which the local update of the row doesn't set. SQLite's
    /// rebaser leaves the column out: other databases have the remote value, and this one has the local value.
    private func checkOmissions(_ applied: [RebaseInformation], _ operation: String) throws(DatabaseError) {
        var omitted: [RowOfTable: Set<Int>] = [:]
        for information in applied {
            // The bytes for a rebaser have the new values of updates as insertions, and mark replacements as indirect:
            // https://www.sqlite.org/src/file/ext/session/sqlite3session.c
            var reader = ChangesetReader(information.bytes, .changeset, allowsUndefined: true)
            while let change = try reader.next() {
                guard change.kind == .insert else { continue }
                let columns = change.newValues.indices.filter { change.newValues[$0] != nil }
                if change.isIndirect {
                    omitted[RowOfTable(change)]?.subtract(columns)
                } else {
                    omitted[RowOfTable(change), default: []].formUnion(columns)
                }
            }
        }
        guard !omitted.isEmpty else { return }
        for change in self where change.kind == .update {
            guard let columns = omitted[RowOfTable(change)] else { continue }
            let isSet = { (column: Int) in change.newValues[column] != nil || change.primaryKeyPositions[column] != 0 }
            guard let column = columns.sorted().first(where: { !isSet($0) }) else { continue }
            throw DatabaseError.misuse(
                """
                \(operation): a remote update of row \(change.primaryKey) of \(change.table) was omitted, which also sets \
                column \(column), and the local one doesn't: the databases would differ. Replace the row, and make the \
                local change again.
                """)
        }
    }

    private struct RowOfTable: Hashable {
        let table: String
        let key: [DatabaseValue]

        init(_ change: Change) {
            table = change.table.lowercasedASCII
            key = change.primaryKey
        }
    }

    /// Throws if a table has other columns in what was applied. SQLite doesn't compare them, and would read beyond the
    /// end of values.
    private func checkColumns(_ applied: [RebaseInformation], _ operation: String) throws(DatabaseError) {
        let own = ChangesetReader.columns(ofChangeset: bytes)
        for information in applied {
            let others = ChangesetReader.columns(ofChangeset: information.bytes)
            guard others.allSatisfy({ own[$0] == nil || own[$0] == $1 }) else {
                throw ChangesetCalls.error(.SQLITE_SCHEMA, operation)
            }
        }
    }
}
