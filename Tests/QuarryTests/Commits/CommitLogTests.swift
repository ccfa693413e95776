import QuarryTestSupport
import Testing

@testable import Quarry
@testable import QuarryCore

/// The commits that readers get, without a database.
@Suite struct CommitLogTests {
    var log = CommitLog()
    var number = 0

    private mutating func commit(_ count: Int = 1) {
        for _ in 0..<count {
            number += 1
            log.append(number, as: CommitNumber(rawValue: number)) {
                DatabaseCommit(CommitNumber(rawValue: number), DatabaseChanges(.t, [:]))
            }
        }
    }

    private mutating func read(_ id: CommitLog.ReaderID) -> [String] {
        var read: [String] = []
        while let commit = log.next(id) { read.append("\(commit.source == .missed ? "missed " : "")\(commit.number)") }
        return read
    }

    @Test mutating func eachReaderReadsWhatFollowsItsBeginning() {
        commit()
        let first = log.addReader(limit: 10)
        commit()
        let second = log.addReader(limit: 10)
        commit()
        #expect(read(first) == ["2", "3"])
        #expect(!log.hasNext(first) && log.hasNext(second))
        #expect(read(second) == ["3"])
        commit()
        #expect(read(first) == ["4"])
        #expect(read(second) == ["4"])
    }

    @Test mutating func aReaderTakesAFewAtOnce() {
        let (many, one) = (log.addReader(limit: 160), log.addReader(limit: 2))
        #expect(log.nextFew(many).isEmpty)
        commit(12)
        #expect(log.nextFew(many).map(\.number.rawValue) == Array(1...10))
        #expect(log.nextFew(many).map(\.number.rawValue) == [11, 12])
        #expect(log.nextFew(one).map(\.source) == [.missed])
        #expect(log.nextFew(one).map(\.number.rawValue) == [11])
        #expect(log.nextFew(one).map(\.number.rawValue) == [12])
        log.removeReader(one)
        #expect(log.nextFew(one).isEmpty)
    }

    @Test mutating func aSlowReaderMissesCommits() {
        let fast = log.addReader(limit: 1_000)
        let slow = log.addReader(limit: 2)
        commit(5)
        #expect(read(slow) == ["missed 3", "4", "5"])
        #expect(read(fast) == ["1", "2", "3", "4", "5"])
        commit(2)
        #expect(read(slow) == ["6", "7"])
    }

    @Test mutating func readingUpToANumberLeavesTheRest() {
        let id = log.addReader(limit: 3)
        commit(5)
        #expect(log.all(id, upTo: 1, as: CommitNumber(rawValue: 1)).map(\.source) == [.missed])
        #expect(log.position(of: id) == 1)
        #expect(log.all(id, upTo: 4, as: CommitNumber(rawValue: 4)).map(\.number.rawValue) == [2, 3, 4])
        #expect(log.all(id, upTo: 4, as: CommitNumber(rawValue: 4)).isEmpty)
        #expect(read(id) == ["5"])
        log.skip(id, to: 5)
        #expect(read(id).isEmpty)
    }

    @Test mutating func nothingIsKeptForNobody() {
        commit(100)
        #expect(log.count == 0)
        let id = log.addReader(limit: 10)
        commit(1_000)
        #expect(log.count <= 128)
        #expect(read(id).count == 11)
        log.removeReader(id)
        #expect(log.count == 0 && log.isUnread)
        #expect(read(id).isEmpty)
    }

    /// Each reader gets every number once, in order, or one for all those that it has missed.
    @Test func readersAtRandom() {
        var generator = SeededGenerator()
        var log = CommitLog()
        var number = 0
        var positions: [CommitLog.ReaderID: (position: Int, limit: Int)] = [:]
        for _ in 0..<5_000 {
            let id = positions.keys.randomElement(using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0 where positions.count < 5:
                let limit = Int.random(in: 1...20, using: &generator)
                positions[log.addReader(limit: limit)] = (number, limit)
            case 1 where positions.count > 3:
                log.removeReader(id!)
                positions[id!] = nil
            case 2...6:
                number += 1
                log.append(number, as: CommitNumber(rawValue: number)) {
                    DatabaseCommit(CommitNumber(rawValue: number), DatabaseChanges(.t, [:]))
                }
            default:
                guard let id, let (position, limit) = positions[id] else { continue }
                let commit = log.next(id)
                let next: Int? =
                    if position == number { nil } else if number - position > limit { number - limit } else {
                        position + 1
                    }
                #expect(commit?.number.rawValue == next, "seed \(generator.seed)")
                #expect(commit.map { $0.source == .missed } ?? false == (number - position > limit))
                positions[id]!.position = next ?? position
            }
        }
    }
}
