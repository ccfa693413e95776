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
        let outer = readRegion
        readRegion = ReadRegion()
        defer {
            var restored = outer
            if let readRegion { restored?.region.formUnion(readRegion.region) }
            readRegion = restored
        }
        let value = try body()
        noteOwnReads()
        return (value, readRegion?.region ?? .fullDatabase)
    }

    /// Runs `body`, whose reads are the library's own: they belong to no region.
    package func withoutRecordingRegion<T>(_ body: () throws -> T) rethrows -> T {
        guard readRegion != nil else { return try body() }
        noteOwnReads()
        let outer = readRegion
        readRegion = nil
        defer {
            // Without a region, what SQLite has prepared again meanwhile is forgotten.
            noteOwnReads()
            readRegion = outer
        }
        return try body()
    }

    /// Adds what SQLite has reported when it prepared running statements again: another connection has changed the
    /// schema.
    private func noteOwnReads() {
        guard let accessRecorder, accessRecorder.hasOwnReport else { return }
        let report = accessRecorder.takeOwnReport()
        guard let readRegion else { return }
        if let expected = readRegion.expected, expected.statement.handle.repreparationCount != expected.repreparations,
            accesses(of: expected.statement).reads == expected.reads
        {
            return
        }
        self.readRegion?.region.formUnion((try? reads(of: report)) ?? .fullDatabase)
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
        guard readRegion != nil else { return }
        let region = try region().databaseRegion(self)
        readRegion?.region.formUnion(region)
    }

    /// Whether the region that statements read is asked for.
    package var asksForRegion: Bool { readRegion != nil }

    /// Adds the region of a statement that is about to run.
    func noteRead(of statement: Statement) {
        // The expectation is taken first: a statement that is prepared meanwhile must not find it.
        let expectation = readRegion?.expectation
        readRegion?.expectation = nil
        noteOwnReads()
        readRegion?.expected = nil
        let reads = accesses(of: statement).reads
        if let expectation, expectation.sql == statement.sql, expectation.arguments == statement.arguments {
            readRegion?.region.formUnion(expectation.region)
            if activeStatements.newestFirst.allSatisfy({ $0.handle.isBusy }) {
                readRegion?.expected = ReadRegion.ExpectedStatement(
                    statement: statement, repreparations: statement.handle.repreparationCount, reads: reads)
            }
        } else {
            readRegion?.region.formUnion(reads)
        }
    }

    /// Says which region the next statement reads, if it has this SQL and these arguments: its request knows the rows,
    /// which SQLite doesn't tell.
    package func expectRead(sql: String, _ arguments: StatementArguments, _ region: DatabaseRegion) {
        readRegion?.expectation = (sql, arguments, region)
    }
}
