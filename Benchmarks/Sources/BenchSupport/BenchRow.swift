/// The work of a peer. The raw value is the row's number in the table of budgets.
package enum BenchTask: String, CaseIterable, Sendable {
    case cursorByPosition = "1.1"
    case playersByPosition = "1.2"
    case cursorUntyped = "1.3"
    case cursorByName = "2.1"
    case playersByName = "2.2"
    case structsByName = "3.1"
    case structsByPosition = "3.2"
    case structsDecodable = "3.3"
    case rowArray = "3.4"
    case datedPlayersByName = "3.5"
    case datedPlayersDecodable = "3.7"
    case stringArray = "4.1"
    case intArray = "4.2"
    case optionalArray = "4.3"
    case insertPrepared = "5.1"
    case insertNamed = "5.2"
    case insertItemRecord = "5.3"
    case insertItemCodable = "5.4"
    case updatePlayerRecord = "5.5"
    case insertPlayerRecord = "5.6"
    case insertPlayerCodable = "5.7"
    case updatePlayerCodable = "5.8"
    case insertUncached = "5.9"
    /// 5.7 as one call.
    case insertPlayerBatch = "5.10"
    case lookupKeyCodable = "6.1"
    case lookupKeyRecord = "6.2"
    case lookupCached = "6.3"
    case lookupSQL = "6.4"
    case lookupRequest = "6.5"
    case lookupQueueRead = "6.6"
    case lookupPoolRead = "6.7"
    case lookupPoolReadAsync = "6.8"
    /// Of the same thousand players; a cached table has them in memory.
    case lookupHot = "6.9"
    case emptyQueueRead = "7.1"
    case emptyQueueWrite = "7.2"
    case emptyPoolRead = "7.3"
    case emptyPoolWrite = "7.4"
    case emptyInDatabase = "7.5"
    case emptyUnsafeRead = "7.6"
    case emptyQueueReadAsync = "7.7"
    case emptyQueueWriteAsync = "7.8"
    case emptyPoolReadAsync = "7.9"
    case emptyPoolReadOffloaded = "7.9o"
    case emptyPoolWriteAsync = "7.10"
    /// A request that is made, and nothing else. Only the libraries have it.
    case buildRequest = "8.1"
    case prepareRequest = "8.2"
    case fetchRequest = "8.3"
    /// The same, finding rows.
    case fetchRequestRows = "8.4"
    case selectCached = "8.5"
    case selectCursor = "8.6"
    case selectUncached = "8.7"
    /// The same with more texts than a cache of statements keeps: what 8.7 costs where the text is really new.
    case selectNewText = "8.7n"
    case selectInterpolated = "8.8"
    /// The same, keeping the statement.
    case selectInterpolatedCached = "8.8c"
    case teamsDecodable = "9.1"
    case teamsByName = "9.2"
    /// A write, and the value that an observation receives because of it.
    case observeQueue = "10.1"
    case observePool = "10.2"
    case updateObserved = "10.3"
    case writeBesideObservations = "10.5"
    case writeBesideObservationsInPool = "10.5p"
    case writeObserved = "10.6"
    case writeObservedInPool = "10.6p"
    /// Writes while 1, 10 and 100 tasks read the commits. Only Quarry has it.
    case writeForReaderOfTables = "10.7"
    case writeForTenReadersOfTables = "10.8"
    case writeForHundredReadersOfTables = "10.9"
    /// The same with the changed keys.
    case writeForReaderOfKeys = "10.10"
    case writeForTenReadersOfKeys = "10.11"
    case writeForHundredReadersOfKeys = "10.12"
    /// A thousand writes, and a reader that advances over them.
    case advanceOverCommits = "10.13"
    case migrate = "11.1"
    case openQueue = "11.2"
    case openPool = "11.3"
    case dateArray = "12.1"
    case uuidArray = "12.2"
    case decimalArray = "12.3"
    case dataArray = "12.4"
    case bindDate = "12.5"
    case bindText = "12.6"
    /// The import of the example, and the same in a file on a disk. C and Quarry have it.
    case importCatalog = "13.1"
    case importCatalogOnDisk = "13.2"
    /// A round trip to a thread of our own: what offloading costs before anything is done. Only the C side has it.
    case threadHop = "hop"
}

/// How many operations a pass performs.
package enum OperationCount: Sendable {
    /// That many, before `--scale`.
    case times(Int)
    /// One for each row of the table `item`.
    case items
    /// One for each row of the table `player`.
    case players
    /// One for each row of the table `payment`.
    case payments
}

/// The allowed cost of a row's median.
package enum Budget: Sendable {
    /// A multiple of the C side's time.
    case timesC(Double)
    /// The C side's time, which includes the hop to another thread, plus this many nanoseconds.
    case overC(nanoseconds: Double)
    /// A fraction of GRDB's time.
    case timesGRDB(Double)
    /// This many nanoseconds, whatever the peers take.
    case nanoseconds(Double)
    /// Shown for orientation.
    case none
}

/// One line of the result: a task, how many threads or tasks do it at once, and what it may cost.
package struct BenchRow: Sendable {
    package let task: BenchTask
    /// Threads of a synchronous workload, tasks of an asynchronous one; 0 where the row isn't about concurrency.
    package let clients: Int
    package let title: String
    package let operations: OperationCount
    package let budget: Budget
    /// How many bytes what one operation read may keep, where that is measured.
    package let bytesBudget: Double?

    package var id: String {
        clients == 0 ? task.rawValue : "\(task.rawValue)/\(clients)"
    }
}

extension BenchRow {
    /// Whether the row's number starts with the prefix, number by number: `7.1` names 7.1/1, 7.1/2 and 7.1/8, but not
    /// 7.10.
    package func matches(_ prefix: some StringProtocol) -> Bool {
        guard id.hasPrefix(prefix) else { return false }
        let next = id.dropFirst(prefix.count).first
        return next.map { !$0.isNumber } ?? true || prefix.last == "." || prefix.last == "/"
    }
}
