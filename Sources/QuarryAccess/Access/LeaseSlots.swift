/// The slots of a connection group, as a value: which of them have connections, and which of these accesses have.
///
/// A slot is in one state at a time. A change that its state doesn't allow has no effect. So the slot of an access is
/// neither given to a second access nor emptied.
struct LeaseSlots {
    enum State: Equatable {
        /// It has no connection.
        case unopened
        /// It has a connection, which no access has.
        case idle
        /// An access has its connection, or opens one in it.
        case leased
        /// As `leased`: a barrier has lent it to the access.
        case lent
    }

    private struct Slot {
        var state: State
        /// Whether the connection is to be dropped: when it comes back, or at the end of the barrier that has it.
        var retires = false
        /// The tick in which the slot came back, if it is idle.
        var tick = 0
        /// Of the first elements, as many as there are idle slots: the number of one of them. The last one back is the
        /// last here, and is leased first. In this array because a second one would be one more allocation.
        var idleSlot = 0
    }

    private var slots: [Slot]
    private(set) var idleCount: Int
    /// The number of slots that accesses have.
    private(set) var leasedCount = 0

    /// - parameter opened: the number of slots that have a connection from the start.
    init(capacity: Int, opened: Int) {
        slots = (0..<capacity).map { Slot(state: $0 < opened ? .idle : .unopened, idleSlot: $0) }
        idleCount = opened
    }

    func state(of slot: Int) -> State { slots[slot].state }

    /// The number of slots that no access has.
    var freeCount: Int { slots.count - leasedCount }

    func retires(_ slot: Int) -> Bool { slots[slot].retires }

    // MARK: - Accesses

    /// An access gets an idle slot; nil if there is none.
    mutating func takeIdle(as state: State = .leased) -> Int? {
        guard idleCount > 0 else { return nil }
        idleCount -= 1
        let slot = slots[idleCount].idleSlot
        slots[slot].state = state
        leasedCount += 1
        return slot
    }

    /// An access gets a slot without a connection, of which there is one.
    mutating func takeUnopened(as state: State) -> Int {
        let slot = slots.firstIndex { $0.state == .unopened }!
        slots[slot].state = state
        leasedCount += 1
        return slot
    }

    /// An access gets a certain slot, if that is idle.
    mutating func take(_ slot: Int) -> Bool {
        guard slots[slot].state == .idle else { return false }
        slots[slot].state = .leased
        removeOthersFromIdle()
        leasedCount += 1
        return true
    }

    /// An access gives its slot back with a connection.
    ///
    /// - returns: whether the slot has come back.
    mutating func giveBack(_ slot: Int, tick: Int) -> Bool {
        guard isTaken(slot) else { return false }
        leasedCount -= 1
        appendIdle(slot, tick: tick)
        return true
    }

    /// An access gives its slot back. The connection is to be dropped, or couldn't be opened.
    ///
    /// - returns: whether the slot has come back.
    mutating func giveBackUnopened(_ slot: Int) -> Bool {
        guard isTaken(slot) else { return false }
        leasedCount -= 1
        empty(slot)
        return true
    }

    private func isTaken(_ slot: Int) -> Bool {
        switch slots[slot].state {
        case .leased, .lent: true
        case .unopened, .idle: false
        }
    }

    // MARK: - Connections

    /// A connection was opened outside of any access.
    ///
    /// - returns: false if an access has the slot, or if it has a connection.
    mutating func adopt(_ slot: Int, tick: Int) -> Bool {
        guard slots[slot].state == .unopened else { return false }
        appendIdle(slot, tick: tick)
        return true
    }

    /// The connection of a slot was closed.
    ///
    /// - returns: false if an access has the slot.
    mutating func forget(_ slot: Int) -> Bool {
        switch slots[slot].state {
        case .unopened: return true
        case .idle:
            empty(slot)
            removeOthersFromIdle()
            return true
        case .leased, .lent: return false
        }
    }

    /// All connections are to be dropped.
    mutating func retireAll() {
        for slot in slots.indices where slots[slot].state != .unopened { slots[slot].retires = true }
    }

    /// Empties idle slots.
    ///
    /// - returns: the slots whose connections are to be dropped.
    mutating func dropIdle(where isDropped: (_ tick: Int, _ retires: Bool) -> Bool) -> [Int] {
        var dropped: [Int] = []
        for index in 0..<idleCount {
            let slot = slots[index].idleSlot
            if isDropped(slots[slot].tick, slots[slot].retires) { dropped.append(slot) }
        }
        if dropped.isEmpty { return [] }
        for slot in dropped { empty(slot) }
        removeOthersFromIdle()
        return dropped
    }

    private mutating func empty(_ slot: Int) {
        slots[slot].state = .unopened
        slots[slot].retires = false
    }

    private mutating func appendIdle(_ slot: Int, tick: Int) {
        slots[slot].state = .idle
        slots[slot].tick = tick
        slots[idleCount].idleSlot = slot
        idleCount += 1
    }

    /// Some slots of the list of idle ones aren't idle any more.
    private mutating func removeOthersFromIdle() {
        var count = 0
        for index in 0..<idleCount {
            let slot = slots[index].idleSlot
            guard slots[slot].state == .idle else { continue }
            slots[count].idleSlot = slot
            count += 1
        }
        idleCount = count
    }
}
