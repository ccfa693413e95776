/// The tasks that wait for a number.
struct NumberWaiters {
    typealias Waiter = CheckedContinuation<End, Never>

    /// The end of a wait.
    enum End {
        case commit
        case cancellation
        case closing
    }

    private struct Entry {
        let number: CommitNumber
        let database: any GroupReader
        let waiter: Waiter
    }

    private var entries: [Int: Entry] = [:]
    private var lastID = 0

    var count: Int { entries.count }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: Int, _ number: CommitNumber, of database: any GroupReader, _ waiter: Waiter) {
        entries[id] = Entry(number: number, database: database, waiter: waiter)
    }

    mutating func remove(_ id: Int) -> Waiter? { entries.removeValue(forKey: id)?.waiter }

    mutating func takeAll(upTo number: CommitNumber) -> [Waiter] { take { $0.number <= number } }

    mutating func takeAll(of isClosed: (any GroupReader) -> Bool) -> [Waiter] { take { isClosed($0.database) } }

    private mutating func take(_ isReady: (Entry) -> Bool) -> [Waiter] {
        let ready = entries.filter { isReady($0.value) }
        for id in ready.keys { entries[id] = nil }
        return ready.values.map(\.waiter)
    }
}
