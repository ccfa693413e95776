import Testing

@testable import Quarry

/// Finding the waits across lanes that never end, with no thread at all.
@Suite struct WaitGraphTests {
    private typealias Sleep = WaitGraph.Sleep

    /// Stands for a lane.
    private final class Name {}

    private let writer = Name()
    private let readers = Name()
    private let other = Name()

    private func place(_ id: Int, isBarrier: Bool = false, borrows: Bool = false) -> WaitGraph.Place {
        WaitGraph.Place(id: id, isBarrier: isBarrier, borrows: borrows)
    }

    private func at(_ lane: Name, _ place: Int) -> Sleep { Sleep(lane: ObjectIdentifier(lane), place: place) }

    private func lane(
        _ name: String, _ threads: [UInt], _ line: [WaitGraph.Place] = [], available: Int = 0,
        hasBarrier: Bool = false, barrierThread: UInt = 0, barredLane: Name? = nil
    ) -> WaitGraph.Lane {
        WaitGraph.Lane(
            name: name, threads: threads, availableCount: available, hasBarrier: hasBarrier,
            barrierThread: barrierThread, barredLane: barredLane.map { ObjectIdentifier($0) }, line: line)
    }

    /// The message for the wait at a place; nil if the wait ends.
    private func error(_ start: Sleep, _ sleeps: [UInt: Sleep], _ lanes: [(Name, WaitGraph.Lane)]) -> String? {
        let lanes = Dictionary(uniqueKeysWithValues: lanes.map { (ObjectIdentifier($0), $1) })
        let graph = WaitGraph(from: start.lane) {
            sleeps[$0]
        } lane: {
            lanes[$0]
        }
        return graph.deadlock(of: start).map { graph.description(of: $0) }
    }

    /// Thread 1 writes and wants to read; threads 2 and 3 read and want to write.
    @Test func readsThatWriteBesideAWriteThatReads() {
        let sleeps: [UInt: Sleep] = [1: at(readers, 1), 2: at(writer, 1), 3: at(writer, 2)]
        let lanes = [
            (writer, lane("the writer", [1], [place(1), place(2)], barredLane: readers)),
            (readers, lane("a reader", [2, 3], [place(1)])),
        ]
        #expect(
            error(at(readers, 1), sleeps, lanes)
                == """
                deadlock: a reader is in use by an access that waits for the writer, which is in use by an access that \
                waits for this one
                """)
        // Thread 3 doesn't write, and gives its reader back.
        #expect(error(at(readers, 1), [1: at(readers, 1), 2: at(writer, 1)], lanes) == nil)
    }

    @Test func oneReaderThatIsFreeIsEnough() {
        let sleeps: [UInt: Sleep] = [1: at(readers, 1), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), sleeps,
                [
                    (writer, lane("the writer", [1], [place(1)], barredLane: readers)),
                    (readers, lane("a reader", [2], [place(1)], available: 1)),
                ]) == nil)
    }

    /// An access that has yet to begin, thread 0, doesn't wait.
    @Test func anAccessThatBeginsEnds() {
        let sleeps: [UInt: Sleep] = [1: at(readers, 1), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), sleeps,
                [
                    (writer, lane("the writer", [1], [place(1)], barredLane: readers)),
                    (readers, lane("a reader", [2, 0], [place(1)])),
                ]) == nil)
    }

    /// A barrier needs all readers: one that waits is one too many.
    @Test func aBarrierWaitsForAllConnections() {
        // The barrier has set the writer aside. Thread 2 reads, and waits for another database, whose writer, thread 4,
        // waits for this one's.
        let sleeps: [UInt: Sleep] = [2: at(other, 1), 4: at(writer, 1)]
        let lanes = [
            (writer, lane("the writer", [], [place(1)], available: 1, hasBarrier: true, barredLane: readers)),
            (readers, lane("a reader", [2, 3], [place(1, isBarrier: true)], available: 3)),
            (other, lane("the writer of another", [4], [place(1)])),
        ]
        for start in [at(readers, 1), at(other, 1), at(writer, 1)] {
            #expect(error(start, sleeps, lanes) != nil)
        }
        // Without thread 4, it ends.
        #expect(error(at(readers, 1), [2: at(other, 1)], lanes) == nil)
    }

    @Test func whatIsLentEnds() {
        let sleeps: [UInt: Sleep] = [2: at(writer, 1), 3: at(writer, 2)]
        let lanes = [
            (
                writer,
                lane(
                    "the writer", [4], [place(1, borrows: true), place(2, borrows: true)], hasBarrier: true,
                    barredLane: readers)
            ),
            (readers, lane("a reader", [2, 3, 4], [place(1, isBarrier: true)])),
        ]
        #expect(error(at(writer, 2), sleeps, lanes) == nil)
        #expect(error(at(readers, 1), sleeps, lanes) == nil)
    }

    /// A barrier has set the writer aside, and lent it to thread 2, which waits for another database; that one's
    /// writer, thread 3, waits for this writer. The barrier has yet to ask for readers, or is about to give up:
    /// neither ends a wait.
    @Test func whatIsLentHasToComeBack() {
        let sleeps: [UInt: Sleep] = [2: at(other, 1), 3: at(writer, 1)]
        let lanes = [
            (writer, lane("the writer", [2], [place(1)], hasBarrier: true, barredLane: readers)),
            (readers, lane("a reader", [2])),
            (other, lane("the writer of another", [3], [place(1)])),
        ]
        #expect(
            error(at(other, 1), sleeps, lanes)
                == """
                deadlock: the writer of another is in use by an access that waits for the writer, which is in use by \
                an access that waits for this one
                """)
    }

    /// Two backups in opposite directions: each has the barrier of one database, and wants to read the other.
    @Test func barriersOfTwoDatabases() {
        let sleeps: [UInt: Sleep] = [1: at(other, 1), 2: at(readers, 1)]
        let lanes = [
            (readers, lane("a reader of a", [], [place(1)], available: 5, hasBarrier: true, barrierThread: 1)),
            (other, lane("a reader of b", [], [place(1)], available: 5, hasBarrier: true, barrierThread: 2)),
        ]
        #expect(
            error(at(readers, 1), sleeps, lanes)
                == """
                deadlock: a reader of a is in use by an access that waits for a reader of b, which is in use by an \
                access that waits for this one
                """)
        #expect(error(at(readers, 1), [2: at(readers, 1)], lanes) == nil)
    }

    /// A place that is no more in the line has been served.
    @Test func oneThatWasServedDoesNotWait() {
        let sleeps: [UInt: Sleep] = [1: at(readers, 7), 2: at(writer, 1)]
        #expect(
            error(
                at(writer, 1), sleeps,
                [
                    (writer, lane("the writer", [1], [place(1)], barredLane: readers)),
                    (readers, lane("a reader", [2])),
                ]) == nil)
    }

    /// Behind closing, which waits for all, one waits for all too.
    @Test func oneBehindABarrierWaitsForAllConnections() {
        let sleeps: [UInt: Sleep] = [1: at(readers, 2), 2: at(writer, 1)]
        let lanes = [
            (writer, lane("the writer", [1], [place(1)])),
            (readers, lane("a snapshot", [2, 3], [place(1, isBarrier: true), place(2)])),
        ]
        #expect(error(at(readers, 2), sleeps, lanes) != nil)
        #expect(error(at(readers, 1), sleeps, lanes) != nil, "the barrier itself")
    }
}
