import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// The work of both libraries, from one source: the call sites differ only in the import.
enum LibraryWorkloads {
    /// - parameter offloaded: the configuration whose asynchronous accesses run on the library's threads.
    static func workload(for task: BenchTask, fixtures: Fixtures, offloaded: Configuration) throws -> Workload? {
        switch task {
        case .cursorByPosition: try cursorByPosition(fixtures)
        case .playersByPosition: try playersByPosition(fixtures)
        case .cursorUntyped: try cursorUntyped(fixtures)
        case .cursorByName: try cursorByName(fixtures)
        case .playersByName: try playersByName(fixtures)
        case .structsByName: try structsByName(fixtures)
        case .structsByPosition: try structsByPosition(fixtures)
        case .structsDecodable: try structsDecodable(fixtures)
        case .rowArray: try rowArray(fixtures)
        case .datedPlayersByName: try datedPlayersByName(fixtures)
        case .datedPlayersDecodable: try datedPlayersDecodable(fixtures)
        case .stringArray: try stringArray(fixtures)
        case .intArray: try intArray(fixtures)
        case .optionalArray: try optionalArray(fixtures)
        case .insertPrepared: try insertPrepared()
        case .insertNamed: try insertNamed()
        case .insertItemRecord: try insertItemRecord()
        case .insertItemCodable: try insertItemCodable()
        case .updatePlayerRecord: try updatePlayerRecord(fixtures)
        case .insertPlayerRecord: try insertPlayerRecord()
        case .insertPlayerCodable: try insertPlayerCodable()
        case .updatePlayerCodable: try updatePlayerCodable(fixtures)
        case .insertUncached: try insertUncached()
        case .insertPlayerBatch: try insertPlayerBatch()
        case .lookupKeyCodable: try lookupKeyCodable(fixtures)
        case .lookupKeyRecord: try lookupKeyRecord(fixtures)
        case .lookupCached: try lookupCached(fixtures)
        case .lookupSQL: try lookupSQL(fixtures)
        case .lookupRequest: try lookupRequest(fixtures)
        case .lookupQueueRead: try lookupQueueRead(fixtures)
        case .lookupPoolRead: try lookupPoolRead(fixtures)
        case .lookupPoolReadAsync: try lookupPoolReadAsync(fixtures)
        case .lookupHot: try lookupHot(fixtures)
        case .emptyQueueRead: try emptyQueueRead()
        case .emptyQueueWrite: try emptyQueueWrite()
        case .emptyPoolRead: try emptyPoolRead(fixtures)
        case .emptyPoolWrite: try emptyPoolWrite(fixtures)
        case .emptyInDatabase: try emptyInDatabase()
        case .emptyUnsafeRead: try emptyUnsafeRead(fixtures)
        case .emptyQueueReadAsync: try emptyQueueReadAsync()
        case .emptyQueueWriteAsync: try emptyQueueWriteAsync()
        case .emptyPoolReadAsync: try emptyPoolReadAsync(fixtures, Configuration())
        case .emptyPoolReadOffloaded: try emptyPoolReadAsync(fixtures, offloaded)
        case .emptyPoolWriteAsync: try emptyPoolWriteAsync(fixtures)
        case .buildRequest: buildRequest()
        case .prepareRequest: try prepareRequest()
        case .fetchRequest: try fetchRequest()
        case .fetchRequestRows: try fetchRequestRows()
        case .selectCached: try selectCached()
        case .selectCursor: try selectCursor()
        case .selectUncached: try selectUncached([BenchSQL.selectBestPlayers])
        case .selectNewText: try selectUncached(BenchSQL.manySelects)
        case .selectInterpolated: try selectInterpolated()
        case .selectInterpolatedCached: try selectInterpolatedCached()
        case .teamsDecodable: try teamsDecodable(fixtures)
        case .teamsByName: try teamsByName(fixtures)
        case .observeQueue: try observe(DatabaseQueue())
        case .observePool: try observe(DatabasePool(path: fixtures.newPath()))
        case .updateObserved: try writeObserved(DatabaseQueue(), BenchSQL.raiseAllObserved, others: false)
        case .writeBesideObservations: try writeObserved(DatabaseQueue(), BenchSQL.raiseObserved, others: true)
        case .writeBesideObservationsInPool:
            try writeObserved(DatabasePool(path: fixtures.newPath()), BenchSQL.raiseObserved, others: true)
        case .writeObserved: try writeObserved(DatabaseQueue(), BenchSQL.raiseObserved, others: false)
        case .writeObservedInPool:
            try writeObserved(DatabasePool(path: fixtures.newPath()), BenchSQL.raiseObserved, others: false)
        case .migrate: try migrate(fixtures)
        case .openQueue: try openQueue(fixtures)
        case .openPool: try openPool(fixtures)
        case .dateArray: try dateArray(fixtures)
        case .uuidArray: try uuidArray(fixtures)
        case .decimalArray: try decimalArray(fixtures)
        case .dataArray: try dataArray(fixtures)
        case .bindDate: try bindDate()
        case .bindText: try bindText()
        case .threadHop, .writeForReaderOfTables, .writeForTenReadersOfTables, .writeForHundredReadersOfTables,
            .writeForReaderOfKeys, .writeForTenReadersOfKeys, .writeForHundredReadersOfKeys, .advanceOverCommits,
            .importCatalog,
            .importCatalogOnDisk:
            nil
        }
    }
}
