/// The region that statements read, while it is asked for.
struct ReadRegion {
    var region = DatabaseRegion()

    /// The region of the next statement with some SQL and arguments, if its request knows the rows.
    var expectation: (sql: String, arguments: StatementArguments, region: DatabaseRegion)?

    /// The statement that has begun last, if its request knows the rows, and if no other statement has yet to take its
    /// first step.
    fileprivate var expected: ExpectedStatement?

    /// The report is known that SQLite gives when it prepares the statement again, as newer versions do when an
    /// argument tells them more (`sqlite3_bind`): whole tables, of which the request knows the rows.
    fileprivate struct ExpectedStatement {
        let statement: Statement
        let repreparations: CInt
        /// The region that SQLite has reported.
        let reads: DatabaseRegion
    }
}

extension Database {
    /// Runs `body`, and returns the region that its statements read.
    ///
    /// Recordings nest: the outer one has the region of the inner one, too.
    package func recordingRegion<T>(_ body: () throws -> T) throws -> (value: T, region: DatabaseRegion) {
        try checkAccess()
        startRecordingAccesses()
        // The statements that SQLite has prepared on its own belong to the outer recording.
        noteOwnReads()
        let outer = watchers.readRegion
        watchers.readRegion = ReadRegion()
        defer {
            var restored = outer
            if let readRegion = watchers.readRegion { restored?.region.formUnion(readRegion.region) }
            watchers.readRegion = restored
        }
        let value = try body()
        noteOwnReads()
        return (value, watchers.readRegion?.region ?? .fullDatabase)
    }

    /// Runs `body`, whose reads are the library's own: they belong to no region.
    package func withoutRecordingRegion<T>(_ body: () throws -> T) rethrows -> T {
        guard watchers.readRegion != nil else { return try body() }
        noteOwnReads()
        let outer = watchers.readRegion
        watchers.readRegion = nil
        defer {
            // Without a region, what SQLite has prepared again meanwhile is forgotten.
            noteOwnReads()
            watchers.readRegion = outer
        }
        return try body()
    }

    /// Adds what SQLite has reported when it prepared running statements again: another connection has changed the
    /// schema.
    private func noteOwnReads() {
        guard let accessRecorder = watchers.accessRecorder, accessRecorder.hasOwnReport else { return }
        let report = accessRecorder.takeOwnReport()
        guard let readRegion = watchers.readRegion else { return }
        if let expected = readRegion.expected, expected.statement.handle.repreparationCount != expected.repreparations,
            accesses(of: expected.statement).reads == expected.reads
        {
            return
        }
        let region = (try? reads(of: report)) ?? .fullDatabase
        watchers.readRegion?.region.formUnion(region)
    }

    /// Says that a region is read, in a way that this connection can't see.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in
    ///     try db.registerAccess(to: Table("player"))
    ///     return try cache.players(db)
    /// }
    /// ```
    ///
    /// - parameter region: evaluated only while an observation asks which region is read.
    /// - throws: the error of the region.
    public func registerAccess(to region: @autoclosure () -> some DatabaseRegionConvertible) throws {
        guard watchers.readRegion != nil else { return }
        let region = try region().databaseRegion(self)
        watchers.readRegion?.region.formUnion(region)
    }

    /// Whether the region that statements read is asked for.
    package var asksForRegion: Bool { watchers.readRegion != nil }

    /// Adds the region of a statement that is about to run.
    func noteRead(of statement: Statement) {
        // The expectation is taken first: a statement that is prepared meanwhile must not find it.
        let expectation = watchers.readRegion?.expectation
        watchers.readRegion?.expectation = nil
        noteOwnReads()
        watchers.readRegion?.expected = nil
        let reads = accesses(of: statement).reads
        if let expectation, expectation.sql == statement.sql, expectation.arguments == statement.arguments {
            watchers.readRegion?.region.formUnion(expectation.region)
            if running.statements.newestFirst.allSatisfy({ $0.handle.isBusy }) {
                watchers.readRegion?.expected = ReadRegion.ExpectedStatement(
                    statement: statement, repreparations: statement.handle.repreparationCount, reads: reads)
            }
        } else {
            watchers.readRegion?.region.formUnion(reads)
        }
    }

    /// Says which region the next statement reads, if it has this SQL and these arguments: its request knows the rows,
    /// which SQLite doesn't tell.
    package func expectRead(sql: String, _ arguments: StatementArguments, _ region: DatabaseRegion) {
        watchers.readRegion?.expectation = (sql, arguments, region)
    }
}
