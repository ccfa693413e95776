import Quarry
import Testing

@testable import QuarryAccess

/// Finding the waits across groups that never end, with no thread at all.
@Suite struct WaitGraphTests {
    private typealias Wait = WaitGraph.Wait

    /// Stands for a group.
    private final class Name {}

    private let writer = Name()
    private let readers = Name()
    private let other = Name()

    private func entry(_ id: Int, isBarrier: Bool = false, borrows: Bool = false) -> WaitGraph.QueueEntry {
        WaitGraph.QueueEntry(id: id, isBarrier: isBarrier, borrows: borrows)
    }

    private func at(_ group: Name, _ entry: Int) -> Wait { Wait(group: ObjectIdentifier(group), entry: entry) }

    private func group(
        _ name: String, _ threads: [UInt], _ queue: [WaitGraph.QueueEntry] = [], available: Int = 0,
        hasBarrier: Bool = false, barrierThread: UInt = 0, barredGroup: Name? = nil
    ) -> WaitGraph.Group {
        WaitGraph.Group(
            name: name, threads: threads, availableCount: available, hasBarrier: hasBarrier,
            barrierThread: barrierThread, barredGroup: barredGroup.map { ObjectIdentifier($0) }, queue: queue)
    }

    /// The message for the wait at a place; nil if the wait ends.
    private func error(_ start: Wait, _ waits: [UInt: Wait], _ groups: [(Name, WaitGraph.Group)]) -> String? {
        let groups = Dictionary(uniqueKeysWithValues: groups.map { (ObjectIdentifier($0), $1) })
        let graph = WaitGraph(from: start.group) {
            waits[$0]
        } group: {
            groups[$0]
        }
        return graph.deadlock(of: start).map { graph.description(of: $0) }
    }

    /// Thread 1 writes and wants to read; threads 2 and 3 read and want to write.
    @Test func readsThatWriteBesideAWriteThatReads() {
        let waits: [UInt: Wait] = [1: at(readers, 1), 2: at(writer, 1), 3: at(writer, 2)]
        let groups = [
            (writer, group("the writer", [1], [entry(1), entry(2)], barredGroup: readers)),
            (readers, group("a reader", [2, 3], [entry(1)])),
        ]
        #expect(
            error(at(readers, 1), waits, groups)
                == """
                deadlock: a reader is in use by an access that waits for the writer, which is in use by an access that \
                waits for this one
                """)
        // Thread 3 doesn't write, and gives its reader back.
        #expect(error(at(readers, 1), [1: at(readers, 1), 2: at(writer, 1)], groups) == nil)
    }

    @Test func oneReaderThatIsFreeIsEnough() {
        let waits: [UInt: Wait] = [1: at(readers, 1), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), waits,
                [
                    (writer, group("the writer", [1], [entry(1)], barredGroup: readers)),
                    (readers, group("a reader", [2], [entry(1)], available: 1)),
                ]) == nil)
    }

    /// An access that has yet to begin, thread 0, doesn't wait.
    @Test func anAccessThatBeginsEnds() {
        let waits: [UInt: Wait] = [1: at(readers, 1), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), waits,
                [
                    (writer, group("the writer", [1], [entry(1)], barredGroup: readers)),
                    (readers, group("a reader", [2, 0], [entry(1)])),
                ]) == nil)
    }

    /// A barrier needs all readers: one that waits is one too many.
    @Test func aBarrierWaitsForAllConnections() {
        // The barrier has set the writer aside. Thread 2 reads, and waits for another database, whose writer, thread 4,
        // waits for this one's.
        let waits: [UInt: Wait] = [2: at(other, 1), 4: at(writer, 1)]
        let groups = [
            (writer, group("the writer", [], [entry(1)], available: 1, hasBarrier: true, barredGroup: readers)),
            (readers, group("a reader", [2, 3], [entry(1, isBarrier: true)], available: 3)),
            (other, group("the writer of another", [4], [entry(1)])),
        ]
        for start in [at(readers, 1), at(other, 1), at(writer, 1)] {
            #expect(error(start, waits, groups) != nil)
        }
        // Without thread 4, it ends.
        #expect(error(at(readers, 1), [2: at(other, 1)], groups) == nil)
    }

    @Test func whatIsLentEnds() {
        let waits: [UInt: Wait] = [2: at(writer, 1), 3: at(writer, 2)]
        let groups = [
            (
                writer,
                group(
                    "the writer", [4], [entry(1, borrows: true), entry(2, borrows: true)], hasBarrier: true,
                    barredGroup: readers)
            ),
            (readers, group("a reader", [2, 3, 4], [entry(1, isBarrier: true)])),
        ]
        #expect(error(at(writer, 2), waits, groups) == nil)
        #expect(error(at(readers, 1), waits, groups) == nil)
    }

    /// A barrier has set the writer aside, and lent it to thread 2, which waits for another database; that one's
    /// writer, thread 3, waits for this writer. The barrier has yet to ask for readers, or is about to give up:
    /// neither ends a wait.
    @Test func whatIsLentHasToComeBack() {
        let waits: [UInt: Wait] = [2: at(other, 1), 3: at(writer, 1)]
        let groups = [
            (writer, group("the writer", [2], [entry(1)], hasBarrier: true, barredGroup: readers)),
            (readers, group("a reader", [2])),
            (other, group("the writer of another", [3], [entry(1)])),
        ]
        #expect(
            error(at(other, 1), waits, groups)
                == """
                deadlock: the writer of another is in use by an access that waits for the writer, which is in use by \
                an access that waits for this one
                """)
    }

    /// Two backups in opposite directions: each has the barrier of one database, and wants to read the other.
    @Test func barriersOfTwoDatabases() {
        let waits: [UInt: Wait] = [1: at(other, 1), 2: at(readers, 1)]
        let groups = [
            (readers, group("a reader of a", [], [entry(1)], available: 5, hasBarrier: true, barrierThread: 1)),
            (other, group("a reader of b", [], [entry(1)], available: 5, hasBarrier: true, barrierThread: 2)),
        ]
        #expect(
            error(at(readers, 1), waits, groups)
                == """
                deadlock: a reader of a is in use by an access that waits for a reader of b, which is in use by an \
                access that waits for this one
                """)
        #expect(error(at(readers, 1), [2: at(readers, 1)], groups) == nil)
    }

    /// A place that is no more in the queue has been served.
    @Test func oneThatWasServedDoesNotWait() {
        let waits: [UInt: Wait] = [1: at(readers, 7), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), waits,
                [
                    (writer, group("the writer", [1], [entry(1)], barredGroup: readers)),
                    (readers, group("a reader", [2])),
                ]) == nil)
    }

    /// Behind closing, which waits for all, one waits for all too.
    @Test func oneBehindABarrierWaitsForAllConnections() {
        let waits: [UInt: Wait] = [1: at(readers, 2), 2: at(writer, 1)]
        let groups = [
            (writer, group("the writer", [1], [entry(1)])),
            (readers, group("a snapshot", [2, 3], [entry(1, isBarrier: true), entry(2)])),
        ]
        #expect(error(at(readers, 2), waits, groups) != nil)
        #expect(error(at(readers, 1), waits, groups) != nil, "the barrier itself")
    }
}
