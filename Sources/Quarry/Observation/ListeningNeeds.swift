import QuarryCore

/// The facts about commits that the observations of a database need. A value.
struct ListeningNeeds {
    private var observationCount = 0

    /// The number of observed regions that have single rows of a table.
    private var regionCounts: [TableName: Int] = [:]

    /// Whether commits have to be reported.
    var isNeeded: Bool { observationCount > 0 }

    /// The tables whose changed rows have to be reported.
    var rowTables: Set<TableName> { Set(regionCounts.keys) }

    /// An observation begins.
    ///
    /// - returns: whether the needs have changed.
    mutating func add() -> Bool {
        observationCount += 1
        return observationCount == 1
    }

    /// An observation has ended.
    mutating func remove() -> Bool {
        observationCount -= 1
        return observationCount == 0
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
