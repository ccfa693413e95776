import QuarryCore

/// The facts about commits that the observations and the readers of commits of a database need. A value.
struct ListeningNeeds {
    private var observationCount = 0

    /// The number of observed regions that have single rows of a table.
    private var regionCounts: [TableName: Int] = [:]

    /// Whether each commit has to be reported, because numbers of commits have been given to the program.
    private(set) var countsAll = false

    /// The number of readers of commits that ask for changed keys.
    private var keyReaderCount = 0

    /// Whether commits have to be reported.
    var isNeeded: Bool { observationCount > 0 || countsAll }

    /// The tables whose changed keys have to be reported.
    var keys: KeyNeeds { keyReaderCount > 0 ? .all : .none }

    /// The tables whose changed rows have to be reported.
    var rowTables: Set<TableName> { Set(regionCounts.keys) }

    /// Numbers of commits are given to the program from now on.
    ///
    /// - returns: whether the needs have changed.
    mutating func startCounting() -> Bool {
        defer { countsAll = true }
        return !isNeeded
    }

    /// Commits are read.
    mutating func addReader(keys: Bool) -> Bool {
        let hasChanged = startCounting()
        if keys { keyReaderCount += 1 }
        return hasChanged || keys && keyReaderCount == 1
    }

    /// A reader of commits has ended.
    mutating func removeReader(keys: Bool) -> Bool {
        if keys { keyReaderCount -= 1 }
        return keys && keyReaderCount == 0
    }

    /// An observation begins.
    mutating func add() -> Bool {
        defer { observationCount += 1 }
        return !isNeeded
    }

    /// An observation has ended.
    mutating func remove() -> Bool {
        observationCount -= 1
        return !isNeeded
    }

    /// A region is observed.
    mutating func add(_ region: DatabaseRegion) -> Bool {
        var hasChanged = false
        for table in region.tablesWithRows {
            let count = regionCounts[table] ?? 0
            regionCounts[table] = count + 1
            if count == 0 { hasChanged = true }
        }
        return hasChanged
    }

    /// A region isn't observed any more.
    mutating func remove(_ region: DatabaseRegion) -> Bool {
        var hasChanged = false
        for table in region.tablesWithRows {
            guard let count = regionCounts[table] else { continue }
            regionCounts[table] = count == 1 ? nil : count - 1
            if count == 1 { hasChanged = true }
        }
        return hasChanged
    }
}
