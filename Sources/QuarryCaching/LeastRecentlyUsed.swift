import QuarryCore

/// Objects by the keys of rows, of which those that were used last are kept. A value.
///
/// The order is a list through an array, so that a lookup allocates nothing.
struct LeastRecentlyUsed {
    private struct Node {
        var key: RowKey
        var object: AnyObject
        var newer: Int
        var older: Int
    }

    /// The largest number of objects. Lowering it removes the objects that were used first.
    var capacity: Int {
        didSet {
            while nodes.count > max(capacity, 0) { evict() }
        }
    }

    private var indexes: [RowKey: Int] = [:]
    private var nodes: [Node] = []
    /// The indexes of the object that was used last, and of the one that was used first; -1 if there is none.
    private var newest = -1
    private var oldest = -1

    /// The number of objects that were removed to make room.
    private(set) var evictionCount = 0

    /// The objects that were removed: their owner releases them when it has released its lock, because the end of an
    /// object may run code of the program.
    private var removed: [AnyObject] = []

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { nodes.count }

    /// The keys, the one that was used last first.
    var keys: [RowKey] {
        var keys: [RowKey] = []
        var index = newest
        while index >= 0 {
            keys.append(nodes[index].key)
            index = nodes[index].older
        }
        return keys
    }

    /// The object of a key, which becomes the one that was used last.
    mutating func use(_ key: RowKey) -> AnyObject? {
        guard let index = indexes[key] else { return nil }
        if index != newest {
            unlink(index)
            link(index)
        }
        return nodes[index].object
    }

    /// The objects that were removed since the last call.
    mutating func takeRemoved() -> [AnyObject] {
        if removed.isEmpty { return [] }
        defer { removed = [] }
        return removed
    }

    /// Adds an object, as the one that was used last.
    mutating func insert(_ object: AnyObject, for key: RowKey) {
        guard capacity > 0 else { return }
        if let index = indexes[key] {
            removed.append(nodes[index].object)
            nodes[index].object = object
            unlink(index)
            link(index)
            return
        }
        if nodes.count == capacity { evict() }
        indexes[key] = nodes.count
        nodes.append(Node(key: key, object: object, newer: -1, older: -1))
        link(nodes.count - 1)
    }

    private mutating func evict() {
        evictionCount += 1
        remove(nodes[oldest].key)
    }

    mutating func remove(_ key: RowKey) {
        guard let index = indexes.removeValue(forKey: key) else { return }
        removed.append(nodes[index].object)
        unlink(index)
        // The last node moves to the free place.
        let last = nodes.count - 1
        if index != last {
            let moved = nodes[last]
            nodes[index] = moved
            indexes[moved.key] = index
            if moved.newer >= 0 { nodes[moved.newer].older = index } else { newest = index }
            if moved.older >= 0 { nodes[moved.older].newer = index } else { oldest = index }
        }
        nodes.removeLast()
    }

    mutating func removeAll() {
        removed += nodes.map(\.object)
        indexes.removeAll()
        nodes.removeAll()
        newest = -1
        oldest = -1
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (nodes[index].newer, nodes[index].older)
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
    }

    private mutating func link(_ index: Int) {
        nodes[index].newer = -1
        nodes[index].older = newest
        if newest >= 0 { nodes[newest].newer = index } else { oldest = index }
        newest = index
    }
}
