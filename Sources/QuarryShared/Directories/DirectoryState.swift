import Quarry

/// The databases of a directory, and their places. Used with the directory's lock held.
struct DirectoryState {
    struct WeakDatabase {
        weak var database: SharedDatabase?
    }

    var machine: PlaceStateMachine
    /// The databases that the program may have, by the lower case of their names.
    var databases: [String: WeakDatabase] = [:]
    /// The databases that have places, or wait for one.
    var gates: [Int: DirectoryGate] = [:]
    /// The databases that have places, which stay open when the program has released them.
    var kept: [Int: SharedDatabase] = [:]
    /// When databases were last used that couldn't be closed: they aren't tried again until they are used.
    var unclosable: [Int: UInt64] = [:]
    /// The counts of the databases that were released.
    var pastStatistics = DatabaseStatistics()
    var openedCount = 0
    var evictedCount = 0
    /// Released without the lock: the last reference to a database ends it, which takes the lock.
    var released: [SharedDatabase] = []

    /// The object of a database that the program has, or that is open.
    mutating func database(_ key: String) -> SharedDatabase? {
        let database = databases[key]?.database
        if let database { released.append(database) }
        return database
    }

    /// Notes a new object of a database.
    ///
    /// - returns: the object that another thread has noted meanwhile, if there is one.
    mutating func note(_ new: SharedDatabase, _ gate: DirectoryGate) -> SharedDatabase {
        if let noted = database(gate.key) { return noted }
        databases[gate.key] = WeakDatabase(database: new)
        if machine.phase(gate.id) == .open { kept[gate.id] = new }
        return new
    }

    /// A database has got a place. Its gate is opened without the lock.
    mutating func beginPlace(_ gate: DirectoryGate) {
        openedCount += 1
        if let database = database(gate.key), database.gate === gate { kept[gate.id] = database }
    }

    /// The gates of databases that have got places.
    mutating func beginPlaces(_ ids: [Int]) -> [DirectoryGate] {
        let served = ids.compactMap { gates[$0] }
        for gate in served { beginPlace(gate) }
        return served
    }

    /// Shuts the gate of a database that is open and idle. `finishClosing` follows, without the lock.
    ///
    /// - parameter lastUse: when the database was last used, to leave out one that couldn't be closed and wasn't
    ///   used since; nil to try it again.
    mutating func shut(_ parts: DirectoryGate.Parts, _ lastUse: UInt64?) -> Bool {
        let gate = parts.gate
        guard machine.phase(gate.id) == .open, lastUse == nil || unclosable[gate.id] != lastUse, parts.shut() else {
            return false
        }
        machine.beginClosing(gate.id)
        gate.setClosing(true)
        return true
    }

    var placedGates: [DirectoryGate] { machine.placed.compactMap { gates[$0] } }

    /// Forgets what is kept of a database that has lost its place.
    mutating func forget(_ id: Int) {
        if machine.phase(id) == .closed { gates[id] = nil }
        unclosable[id] = nil
        if machine.phase(id) != .open, let database = kept.removeValue(forKey: id) { released.append(database) }
    }
}
