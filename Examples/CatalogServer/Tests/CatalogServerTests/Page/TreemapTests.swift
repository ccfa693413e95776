import Testing

@testable import CatalogServer

struct TreemapTests {
    private let map = Treemap(width: 400, height: 250)

    @Test func areasAreInProportion() {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
        print("seed \(seed)")
        var random = SeededGenerator(state: seed)
        for _ in 0..<50 {
            let values = (0..<Int.random(in: 1...80, using: &random))
                .map { _ in Double(Int.random(in: 1...10_000, using: &random)) }.sorted(by: >)
            let total = values.reduce(0, +)
            let rectangles = map.rectangles(for: values)
            #expect(rectangles.count == values.count)
            for (value, rectangle) in zip(values, rectangles) {
                #expect(abs(rectangle.width * rectangle.height - value / total * 100_000) < 0.01)
                #expect(rectangle.x > -0.001 && rectangle.x + rectangle.width < 400.001)
                #expect(rectangle.y > -0.001 && rectangle.y + rectangle.height < 250.001)
            }
            for (index, one) in rectangles.enumerated() {
                for other in rectangles[(index + 1)...] {
                    let width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
                    let height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
                    #expect(width < 0.001 || height < 0.001, "overlap")
                }
            }
        }
    }

    /// The example of the paper: no rectangle is longer than 3 times its breadth.
    @Test func rectanglesAreNearlySquare() {
        for rectangle in Treemap(width: 6, height: 4).rectangles(for: [6, 6, 4, 3, 2, 2, 1]) {
            #expect(max(rectangle.width / rectangle.height, rectangle.height / rectangle.width) <= 3)
        }
    }

    @Test func nothingHasNoRectangles() {
        #expect(map.rectangles(for: []).isEmpty)
        #expect(map.rectangles(for: [0, 0]).isEmpty)
    }

    private struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64

        /// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>.
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var bits = state
            bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
            return bits ^ (bits >> 31)
        }
    }
}
