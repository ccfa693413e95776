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
    }

    private var slots: [Slot]
    /// The idle slots, each with the tick in which it came back. The last one back is leased first.
    private var idle: [(slot: Int, tick: Int)]
    private var unopened: [Int]
    /// The number of slots that accesses have.
    private(set) var leasedCount = 0

    /// - parameter opened: the number of slots that have a connection from the start.
    init(capacity: Int, opened: Int) {
        slots = (0..<capacity).map { Slot(state: $0 < opened ? .idle : .unopened) }
        idle = (0..<opened).map { ($0, 0) }
        unopened = Array((opened..<capacity).reversed())
    }

    func state(of slot: Int) -> State { slots[slot].state }

    var idleCount: Int { idle.count }

    /// The number of slots that no access has.
    var freeCount: Int { idle.count + unopened.count }

    func retires(_ slot: Int) -> Bool { slots[slot].retires }

    // MARK: - Accesses

    /// An access gets an idle slot; nil if there is none.
    mutating func takeIdle(as state: State = .leased) -> Int? {
        guard let (slot, _) = idle.popLast() else { return nil }
        slots[slot].state = state
        leasedCount += 1
        return slot
    }

    /// An access gets a slot without a connection, of which there is one.
    mutating func takeUnopened(as state: State) -> Int {
        let slot = unopened.removeLast()
        slots[slot].state = state
        leasedCount += 1
        return slot
    }

    /// An access gets a certain slot, if that is idle.
    mutating func take(_ slot: Int) -> Bool {
        guard slots[slot].state == .idle, let index = idle.lastIndex(where: { $0.slot == slot }) else { return false }
        idle.remove(at: index)
        slots[slot].state = .leased
        leasedCount += 1
        return true
    }

    /// An access gives its slot back with a connection.
    ///
    /// - returns: whether the slot has come back.
    mutating func giveBack(_ slot: Int, tick: Int) -> Bool {
        guard isTaken(slot) else { return false }
        slots[slot].state = .idle
        leasedCount -= 1
        idle.append((slot, tick))
        return true
    }

    /// An access gives its slot back. The connection is to be dropped, or couldn't be opened.
    ///
    /// - returns: whether the slot has come back.
    mutating func giveBackUnopened(_ slot: Int) -> Bool {
        guard isTaken(slot) else { return false }
        slots[slot] = Slot(state: .unopened)
        leasedCount -= 1
        unopened.append(slot)
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
        guard slots[slot].state == .unopened, let index = unopened.firstIndex(of: slot) else { return false }
        unopened.remove(at: index)
        slots[slot].state = .idle
        idle.append((slot, tick))
        return true
    }

    /// The connection of a slot was closed.
    ///
    /// - returns: false if an access has the slot.
    mutating func forget(_ slot: Int) -> Bool {
        switch slots[slot].state {
        case .unopened: return true
        case .idle:
            idle.removeAll { $0.slot == slot }
            empty(slot)
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
        for (slot, tick) in idle where isDropped(tick, slots[slot].retires) { dropped.append(slot) }
        if dropped.isEmpty { return [] }
        for slot in dropped { empty(slot) }
        let slots = slots
        idle.removeAll { slots[$0.slot].state != .idle }
        return dropped
    }

    private mutating func empty(_ slot: Int) {
        slots[slot] = Slot(state: .unopened)
        unopened.append(slot)
    }
}
