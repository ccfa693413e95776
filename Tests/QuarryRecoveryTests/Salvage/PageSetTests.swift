import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Sets of pages and of keys, compared with sets that are searched one by one.
@Suite("Page sets") struct PageSetTests {
    @Test func pagesBehindTheFileTakeNoMoreThanTheirNumber() {
        var set = PageSet(count: 100)
        for page: UInt32 in [1, 64, 100, 4_000_000_000, .max] {
            #expect(!set.contains(page))
            let isNew = (set.insert(page), set.insert(page))
            #expect(isNew == (true, false), "\(page)")
            #expect(set.contains(page))
        }
        #expect(set.first(10) == [1, 64, 100, 4_000_000_000, 4_294_967_295])
        #expect(set.first(4) == [1, 64, 100, 4_000_000_000])
        #expect(set.first(2) == [1, 64])
    }

    @Test func keysAreFoundInTheHolesThatHaveThem() {
        var generator = SeededGenerator()
        let keys: [Int64] = [.min, .min + 1, -2, 0, 1, 5, 9, 10, .max - 1, .max]
        for round in 0..<200 {
            let holes = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                let bounds = (0..<2).map { _ in keys.randomElement(using: &generator)! }.sorted()
                return TreeHole(
                    page: 2,
                    keys: KeyRange(
                        low: Bool.random(using: &generator) ? nil : bounds[0],
                        high: Bool.random(using: &generator) ? nil : bounds[1]),
                    reason: .unreadable)
            }
            let found = HoleKeys(holes)
            for low in keys {
                for high in keys where low <= high {
                    let expected = holes.contains { $0.keys.contains(low) && $0.keys.contains(high) }
                    #expect(
                        found.contain(low...high) == expected,
                        "seed \(generator.seed), \(round): \(low)...\(high) in \(holes.map(\.keys))")
                }
            }
        }
    }
}
