package import BenchSupport

/// The C API as a careful Swift programmer calls it: statements prepared once and reused, nothing between.
package struct CPeer: Peer {
    package let name = PeerName.c

    package init() {}

    package func workload(for task: BenchTask, fixtures: Fixtures) throws -> Workload? {
        switch task {
        case .cursorByPosition, .cursorByName: try Self.cursor(fixtures)
        case .playersByPosition, .playersByName: try Self.playerCursor(fixtures)
        case .cursorUntyped: try Self.untypedCursor(fixtures)
        case .structsByName, .structsByPosition, .structsDecodable: try Self.structs(fixtures)
        case .rowArray: try Self.rowArray(fixtures)
        case .datedPlayersByName, .datedPlayersDecodable: try Self.players(fixtures)
        case .stringArray: try Self.strings(fixtures)
        case .intArray: try Self.ints(fixtures)
        case .optionalArray: try Self.optionals(fixtures)
        case .insertPrepared, .insertItemRecord, .insertItemCodable: try Self.insertPrepared(BenchSQL.insertItem)
        case .insertNamed: try Self.insertPrepared(BenchSQL.insertItemNamed)
        case .insertUncached: try Self.insertUncached()
        case .insertPlayerRecord, .insertPlayerCodable, .insertPlayerBatch: try Self.insertPlayers()
        case .updatePlayerRecord, .updatePlayerCodable: try Self.updatePlayers(fixtures)
        case .lookupKeyCodable, .lookupKeyRecord, .lookupCached, .lookupSQL, .lookupRequest: try Self.lookup(fixtures)
        case .lookupQueueRead: try Self.lookupUnderMutex(fixtures)
        case .lookupPoolRead: try Self.lookupInPool(fixtures, fixtures.playerKey)
        case .lookupHot: try Self.lookupInPool(fixtures, fixtures.hotPlayerKey)
        case .lookupPoolReadAsync: try Self.lookupInActor(fixtures)
        case .emptyQueueRead: try Self.emptyReadUnderMutex()
        case .emptyQueueWrite: try Self.emptyWriteUnderMutex(try Connection(":memory:"))
        case .emptyPoolRead: try Self.emptyReadInPool(fixtures)
        case .emptyPoolWrite: try Self.emptyWriteUnderMutex(walWriter(fixtures.newPath()))
        case .emptyInDatabase: Self.emptyAccessUnderMutex()
        case .emptyUnsafeRead: try Self.emptyAccessInPool(fixtures)
        case .emptyQueueReadAsync: try Self.emptyReadInActor()
        case .emptyQueueWriteAsync: try Self.emptyWriteInActor()
        case .emptyPoolReadAsync: try Self.emptyPinnedReadInActor(fixtures)
        case .emptyPoolReadOffloaded: try Self.emptyReadOnOwnThread(fixtures)
        case .emptyPoolWriteAsync: try Self.emptyWriteOnOwnThread(fixtures)
        case .buildRequest: nil
        case .prepareRequest, .fetchRequest: try Self.selectCached()
        case .fetchRequestRows: try Self.selectPlayers()
        case .selectCached, .selectCursor, .selectInterpolatedCached: try Self.selectCached()
        case .selectUncached, .selectInterpolated: try Self.selectUncached([BenchSQL.selectBestPlayers])
        case .selectNewText: try Self.selectUncached(BenchSQL.manySelects)
        case .teamsDecodable, .teamsByName: try Self.teams(fixtures)
        case .observeQueue: try Self.observe(nil)
        case .observePool: try Self.observe(fixtures)
        case .updateObserved: try Self.writeObserved(BenchSQL.raiseAllObserved, nil)
        case .writeBesideObservations, .writeObserved: try Self.writeObserved(BenchSQL.raiseObserved, nil)
        case .writeBesideObservationsInPool, .writeObservedInPool:
            try Self.writeObserved(BenchSQL.raiseObserved, fixtures)
        case .writeForReaderOfTables, .writeForTenReadersOfTables, .writeForHundredReadersOfTables,
            .writeForReaderOfKeys, .writeForTenReadersOfKeys, .writeForHundredReadersOfKeys:
            try Self.writeObserved(BenchSQL.raiseObserved, fixtures)
        case .advanceOverCommits: try Self.writeAndPin(fixtures)
        case .migrate: try Self.migrate(fixtures)
        case .openQueue: try Self.openConnection(fixtures)
        case .openPool: try Self.openWriterAndReader(fixtures)
        case .dateArray: try Self.values(fixtures, BenchSQL.selectDates, columnDate, Checksum.of)
        case .uuidArray: try Self.values(fixtures, BenchSQL.selectPaymentIDs, columnUUID, Checksum.of)
        case .decimalArray: try Self.values(fixtures, BenchSQL.selectAmounts, columnDecimal, Checksum.of)
        case .dataArray: try Self.values(fixtures, BenchSQL.selectReceipts, columnData, Checksum.of)
        case .bindDate: try Self.bindDates()
        case .bindText: try Self.bindTexts()
        case .importCatalog: try Self.importCatalog(path: nil)
        case .importCatalogOnDisk: try Self.importCatalog(path: { fixtures.newDiskPath() })
        case .threadHop: Self.threadHop()
        }
    }
}
