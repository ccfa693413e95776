import QuarryClusterWire

/// The statements that a session has prepared at its node.
///
/// The first run of a statement sends its text, the second one also prepares it, and later ones send the number. A text
/// that runs once needs no round trip of its own.
struct PreparedStatements {
    enum Form: Equatable {
        /// Send the text.
        case text
        /// Send the text, and a request to prepare it behind it.
        case textThenPrepare
        /// Send the number.
        case prepared(UInt32)
    }

    private enum State {
        case ranOnce
        case isBeingPrepared
        case prepared(UInt32)
        /// The node couldn't prepare it.
        case refused
    }

    private struct Entry {
        var state: State
        var lastUse: Int
    }

    private var entries: [String: Entry] = [:]
    private var useCount = 0

    /// The most texts that are kept.
    let capacity: Int

    init(capacity: Int = 100) { self.capacity = capacity }

    /// The form of the next run of a text.
    mutating func formOfNextRun(of sql: String) -> Form {
        useCount += 1
        guard var entry = entries[sql] else {
            entries[sql] = Entry(state: .ranOnce, lastUse: useCount)
            return .text
        }
        entry.lastUse = useCount
        defer { entries[sql] = entry }
        switch entry.state {
        case .ranOnce:
            entry.state = .isBeingPrepared
            return .textThenPrepare
        case .isBeingPrepared, .refused: return .text
        case .prepared(let id): return .prepared(id)
        }
    }

    /// The node has answered the request to prepare a text; nil if it couldn't.
    mutating func didPrepare(_ sql: String, id: UInt32?) {
        entries[sql]?.state = id.map(State.prepared) ?? .refused
    }

    /// Removes the texts that were used least recently, beyond the capacity.
    ///
    /// - returns: the numbers to be released at the node, each once: a node aborts when a number is released again.
    mutating func removeExcess() -> [UInt32] {
        guard entries.count > capacity else { return [] }
        let excess = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(entries.count - capacity * 3 / 4)
        var ids: [UInt32] = []
        for (sql, entry) in excess {
            if case .isBeingPrepared = entry.state { continue }
            if case .prepared(let id) = entry.state { ids.append(id) }
            entries[sql] = nil
        }
        return ids
    }

    /// Removes all.
    ///
    /// - returns: the numbers to be released at the node.
    mutating func removeAll() -> [UInt32] {
        defer { entries.removeAll() }
        return entries.values.compactMap { if case .prepared(let id) = $0.state { id } else { nil } }
    }
}
