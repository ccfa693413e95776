package import BenchSupport

/// The C API as a careful Swift programmer calls it: statements prepared once and reused, nothing between.
package struct CPeer: Peer {
    package let name = PeerName.c

    package init() {}

    package func workload(for task: BenchTask, fixtures: Fixtures) throws -> Workload? {
        switch task {
        case .cursorByPosition, .cursorByName: try Self.cursor(fixtures)
        case .cursorUntyped: try Self.untypedCursor(fixtures)
        case .structsByPosition: try Self.structs(fixtures)
        case .stringArray: try Self.strings(fixtures)
        case .intArray: try Self.ints(fixtures)
        case .optionalArray: try Self.optionals(fixtures)
        case .insertPrepared: try Self.insertPrepared()
        case .insertUncached: try Self.insertUncached()
        case .lookupCached: try Self.lookup(fixtures)
        case .lookupQueueRead: try Self.lookupUnderMutex(fixtures)
        case .lookupPoolRead: try Self.lookupInPool(fixtures)
        case .lookupPoolReadAsync: try Self.lookupInActor(fixtures)
        case .emptyQueueRead: try Self.emptyReadUnderMutex()
        case .emptyQueueWrite: try Self.emptyWriteUnderMutex(try Connection(":memory:"))
        case .emptyPoolRead: try Self.emptyReadInPool(fixtures)
        case .emptyPoolWrite: try Self.emptyWriteUnderMutex(walWriter(fixtures.newPath()))
        case .emptyQueueReadAsync: try Self.emptyReadInActor()
        case .emptyPoolReadAsync: try Self.emptyPinnedReadInActor(fixtures)
        case .emptyPoolReadOffloaded: try Self.emptyReadOnOwnThread(fixtures)
        case .emptyPoolWriteAsync: try Self.emptyWriteOnOwnThread(fixtures)
        case .selectCached: try Self.selectCached()
        case .selectUncached: try Self.selectUncached([BenchSQL.selectBestPlayers])
        case .selectNewText: try Self.selectUncached(BenchSQL.manySelects)
        case .threadHop: Self.threadHop()
        }
    }
}
