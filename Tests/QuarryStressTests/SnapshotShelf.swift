import Quarry
import QuarryCore
import QuarryTestSupport

/// Snapshots that some make and drop while others read them.
final class SnapshotShelf: Sendable {
    /// A snapshot, and what it sees.
    final class Entry: Sendable {
        let reader: any DatabaseSnapshotReader
        /// The number of transfers, after the first look.
        private let seen = Recorded<Int?>(nil)
        private let wasClosed = Recorded(false)

        init(_ reader: any DatabaseSnapshotReader) { self.reader = reader }

        /// Looks at its content, which has to be the same each time.
        func look(_ bank: Bank, _ db: Database) throws {
            let count = try bank.look(db)
            let first = seen.update { seen in
                if seen == nil { seen = count }
                return seen
            }
            if first != count { bank.fault("a snapshot saw \(first ?? -1) transfers, then \(count)") }
        }

        /// Why reads of it may fail.
        var expected: Set<Refusal> { wasClosed.value ? [.closed] : [] }

        func close() throws {
            wasClosed.update { $0 = true }
            try reader.close()
        }
    }

    private let entries = Recorded<[Entry]>([])
    private static let capacity = 4

    /// Puts a snapshot there, in the place of a random one if there are many.
    func put(_ reader: any DatabaseSnapshotReader, _ generator: inout SeededGenerator) {
        let index = Int.random(in: 0..<Self.capacity, using: &generator)
        let old = entries.update { entries -> Entry? in
            let entry = Entry(reader)
            guard entries.count >= Self.capacity else {
                entries.append(entry)
                return nil
            }
            let old = entries[index]
            entries[index] = entry
            return old
        }
        // It goes here, outside the lock.
        _ = consume old
    }

    func pick(_ generator: inout SeededGenerator) -> Entry? {
        let index = Int.random(in: 0..<Self.capacity, using: &generator)
        return entries.update { $0.indices.contains(index) ? $0[index] : nil }
    }

    /// Takes one away.
    func take() -> Entry? { entries.update { $0.popLast() } }

    func removeAll() {
        let old = entries.update { entries in
            defer { entries = [] }
            return entries
        }
        _ = consume old
    }
}
