import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
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
        while true {
            let commits = log.nextFew(id)
            if commits.isEmpty { return read }
            read += commits.map { "\($0.source == .missed ? "missed " : "")\($0.number)" }
        }
    }

    @Test mutating func eachReaderReadsWhatFollowsItsBeginning() {
        commit()
        let first = log.addReader(limit: 10)
        commit()
        let second = log.addReader(limit: 10)
        commit()
        #expect(read(first) == ["2", "3"])
        #expect(log.nextFew(first).isEmpty)
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

    @Test mutating func readersThatHaveReadEquallyFarShareTheCommits() {
        let (first, second, third) = (log.addReader(limit: 64), log.addReader(limit: 32), log.addReader(limit: 64))
        commit(6)
        #expect(log.nextFew(first).map(\.number.rawValue) == [1, 2, 3, 4])
        // Fewer are kept for the second, so it takes fewer.
        #expect(log.nextFew(second).map(\.number.rawValue) == [1, 2])
        #expect(log.nextFew(third).map(\.number.rawValue) == [1, 2])
        #expect(read(first) == ["5", "6"])
        #expect(read(third) == ["3", "4", "5", "6"])
        #expect(read(second) == ["3", "4", "5", "6"])
    }

    @Test mutating func theCommitsTakenLastAreFreedOnceAllHaveReadThem() {
        final class Info: Sendable {}
        let (first, second) = (log.addReader(limit: 1_000), log.addReader(limit: 1_000))
        weak var info: Info?
        do {
            let made = Info()
            info = made
            var note = CommitNote()
            note.userInfo = made
            number += 1
            let commit = DatabaseCommit(CommitNumber(rawValue: number), DatabaseChanges(.t, [:]), note)
            log.append(number, as: commit.number) { commit }
        }
        #expect(read(first) == ["1"] && read(second) == ["1"])
        #expect(info != nil)
        commit(64)
        #expect(info == nil)
    }

    @Test mutating func theSmallestLimit() {
        #expect(log.smallestLimit == .max)
        let (first, second) = (log.addReader(limit: 10), log.addReader(limit: 5))
        #expect(log.smallestLimit == 5)
        log.removeReader(second)
        #expect(log.smallestLimit == 10)
        log.removeReader(first)
        #expect(log.smallestLimit == .max)
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
                let limit = Int.random(in: 1...100, using: &generator)
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
                let commits = log.nextFew(id)
                let read = commits.map(\.number.rawValue)
                if number - position > limit {
                    #expect(read == [number - limit] && commits[0].source == .missed, "seed \(generator.seed)")
                } else {
                    let count = read.count
                    #expect(read == Array((position + 1)..<(position + 1 + count)), "seed \(generator.seed)")
                    #expect(commits.allSatisfy { $0.source != .missed })
                    #expect(count <= max(1, limit / 16) && (count > 0) == (position < number))
                }
                positions[id]!.position = read.last ?? position
            }
        }
    }
}
