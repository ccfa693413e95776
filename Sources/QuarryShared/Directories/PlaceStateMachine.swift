import Quarry

/// Which databases of a directory may be open, as a value.
///
/// A directory has places. A database that has one may open connections; any other waits behind its gate. A database
/// that is wanted gets a free place at once. Otherwise it waits in line, and a place is freed: an idle database is
/// closed.
///
/// A database that is wanted inside an access of the same directory never waits, since that access keeps a place
/// meanwhile: it gets a place beyond the limit.
struct PlaceStateMachine: Equatable {
    typealias ID = Int

    enum Phase: Equatable {
        /// The gate is shut, and no connection is open.
        case closed
        /// As closed, in the line.
        case waiting
        /// The database has a place, and its gate is open.
        case open
        /// The gate is shut, and the connections are being closed.
        case closing
    }

    /// The number of places.
    let limit: Int

    /// The databases that aren't closed.
    private var phases: [ID: Phase] = [:]
    /// The databases in line, also those that are still being closed.
    private var line: [ID] = []
    /// The closing databases that are wanted inside an access.
    private var urgent: Set<ID> = []
    /// The number of databases with an open gate.
    private(set) var openCount = 0
    private(set) var closingCount = 0

    init(limit: Int) { self.limit = limit }

    static func == (left: Self, right: Self) -> Bool {
        left.limit == right.limit && left.phases == right.phases && left.urgent == right.urgent
            && left.line.elementsEqual(right.line)
    }

    func phase(_ id: ID) -> Phase { phases[id] ?? .closed }

    /// The databases with an open gate, in no order.
    var open: [ID] { phases.compactMap { $0.value == .open ? $0.key : nil } }

    /// The databases that have places, in no order.
    var placed: [ID] { phases.compactMap { $0.value == .open || $0.value == .closing ? $0.key : nil } }

    var waitingCount: Int { line.count }

    /// Whether no place is free.
    var isFull: Bool { openCount + closingCount >= limit }

    /// The number of databases to close, in addition to those that are being closed.
    var surplus: Int { max(0, line.count + openCount - limit) }

    // MARK: - Events

    /// An access waits behind a gate.
    ///
    /// - parameter isNested: whether the access waits inside another one of the directory.
    /// - returns: the databases that have got places, whose gates are to be opened.
    mutating func want(_ id: ID, isNested: Bool) -> [ID] {
        switch phase(id) {
        case .open: return []
        case .closed, .waiting:
            if isNested {
                leaveLine(id)
                beginOpen(id)
                return [id]
            }
            if phase(id) == .closed { line.append(id) }
            phases[id] = .waiting
            return serve()
        case .closing:
            if isNested { urgent.insert(id) }
            if !line.contains(id) { line.append(id) }
            return []
        }
    }

    /// No access waits for a database any more. A place that it has already is given back by `decline`.
    mutating func leave(_ id: ID) {
        switch phase(id) {
        case .closed, .open: break
        case .waiting:
            leaveLine(id)
            phases[id] = nil
        case .closing:
            leaveLine(id)
            urgent.remove(id)
        }
    }

    /// The gate of an idle database was shut, and its connections will be closed.
    mutating func beginClosing(_ id: ID) {
        guard phase(id) == .open else { return }
        phases[id] = .closing
        openCount -= 1
        closingCount += 1
    }

    /// The connections were closed, or could not be closed.
    ///
    /// - returns: the databases that have got places.
    mutating func endClosing(_ id: ID, isClosed: Bool) -> [ID] {
        guard phase(id) == .closing else { return [] }
        closingCount -= 1
        phases[id] = line.contains(id) ? .waiting : nil
        let isUrgent = urgent.remove(id) != nil
        guard !isClosed || isUrgent else { return serve() }
        leaveLine(id)
        beginOpen(id)
        return [id] + serve()
    }

    /// Nobody wants a database any more that has just got a place; its gate is still shut.
    ///
    /// - returns: the databases that have got places.
    mutating func decline(_ id: ID) -> [ID] {
        beginClosing(id)
        return endClosing(id, isClosed: true)
    }

    /// A database is gone.
    ///
    /// - returns: the databases that have got places.
    mutating func remove(_ id: ID) -> [ID] {
        switch phase(id) {
        case .closed: return []
        case .waiting: leaveLine(id)
        case .open: openCount -= 1
        case .closing:
            closingCount -= 1
            leaveLine(id)
            urgent.remove(id)
        }
        phases[id] = nil
        return serve()
    }

    // MARK: - Inside

    /// Gives free places to the databases in line, but for those that are being closed.
    private mutating func serve() -> [ID] {
        var served: [ID] = []
        var index = 0
        while index < line.count, !isFull {
            guard phase(line[index]) == .waiting else {
                index += 1
                continue
            }
            let id = line.remove(at: index)
            beginOpen(id)
            served.append(id)
        }
        return served
    }

    private mutating func beginOpen(_ id: ID) {
        phases[id] = .open
        openCount += 1
    }

    private mutating func leaveLine(_ id: ID) {
        if let index = line.firstIndex(of: id) { line.remove(at: index) }
    }
}
