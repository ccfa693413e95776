import QuarryCore
import Testing

@Suite("Errors of cursors")
struct CursorErrorTests {
    /// 1, 2, an error, 3
    private var base: CountingCursor<Int> {
        CountingCursor(steps: [.element(1), .element(2), .failure(CursorFailure("step")), .element(3)])
    }

    @Test func errorOfTheBasePassesAndTheNextCallAsksAgain() {
        #expect(base.trace() == ["1", "2", "!step", "3"])
        #expect(AnyCursor(base).trace() == ["1", "2", "!step", "3"])
        #expect(base.map { $0 * 10 }.trace() == ["10", "20", "!step", "30"])
        #expect(base.filter { $0 != 2 }.trace() == ["1", "!step", "3"])
        #expect(base.compactMap { $0 == 2 ? nil : $0 }.trace() == ["1", "!step", "3"])
        #expect(base.flatMap { [$0, $0] }.trace() == ["1", "1", "2", "2", "!step", "3", "3"])
        #expect(base.enumerated().trace() == ["(0, 1)", "(1, 2)", "!step", "(2, 3)"])
        #expect(base.dropFirst().trace() == ["2", "!step", "3"])
        #expect(base.dropFirst(3).trace() == ["!step"])
        #expect(base.drop { $0 < 2 }.trace() == ["2", "!step", "3"])
        #expect(base.drop { $0 < 3 }.trace() == ["!step", "3"])
        #expect(base.prefix(2).trace() == ["1", "2"])
        #expect(base.prefix(3).trace() == ["1", "2", "!step", "3"])
        #expect(base.prefix { $0 < 2 }.trace() == ["1"])
        #expect(base.prefix { $0 < 9 }.trace() == ["1", "2", "!step", "3"])
    }

    @Test func errorOfAClosureCostsTheElementAtHand() {
        func refuse2(_ n: Int) throws -> Bool {
            if n == 2 { throw CursorFailure("closure") }
            return true
        }
        let numbers = { CountingCursor([1, 2, 3]) }
        #expect(numbers().map { n in try refuse2(n) ? n : 0 }.trace() == ["1", "!closure", "3"])
        #expect(numbers().filter(refuse2).trace() == ["1", "!closure", "3"])
        #expect(numbers().compactMap { n in try refuse2(n) ? n : nil }.trace() == ["1", "!closure", "3"])
        #expect(numbers().flatMap { n in try refuse2(n) ? [n, n] : [] }.trace() == ["1", "1", "!closure", "3", "3"])
        #expect(numbers().drop(while: refuse2).trace() == ["!closure"])
        #expect(numbers().prefix(while: refuse2).trace() == ["1", "!closure", "3"])
    }

    @Test func errorOfASegmentLeavesItsRest() {
        let segments = CountingCursor([base, CountingCursor([4])])
        #expect(segments.joined().trace() == ["1", "2", "!step", "3", "4"])
    }

    @Test func consumersThrowTheErrorOfTheCursor() throws {
        let failure = CursorFailure("step")
        #expect(throws: failure) { try base.forEach { _ in } }
        #expect(throws: failure) { try base.reduce(0, +) }
        #expect(throws: failure) { try base.reduce(into: 0) { $0 += $1 } }
        #expect(throws: failure) { try base.min() }
        #expect(throws: failure) { try base.max() }
        #expect(throws: failure) { try base.suffix(1) }
        #expect(throws: failure) { try base.dropLast() }
        #expect(throws: failure) { try base.contains(3) }
        #expect(throws: failure) { try base.first { $0 == 3 } }
        #expect(throws: failure) { try base.map { "\($0)" }.joined() }
        #expect(throws: failure) { try Array(base) }
        #expect(throws: failure) { try Set(base) }
        #expect(throws: failure) { try Set([1]).union(base) }
        #expect(throws: failure) { try Set([1]).intersection(base) }
        #expect(throws: failure) { try Dictionary(grouping: base) { $0 } }
        #expect(throws: failure) { try Dictionary(uniqueKeysWithValues: base.map { ($0, $0) }) }
        #expect(throws: failure) { try CountingCursor<Int>(steps: [.failure(failure)]).isEmpty }
        #expect(try base.contains(2))
        #expect(try base.first { $0 == 2 } == 2)
    }

    @Test func consumersThrowTheErrorOfTheirClosure() throws {
        let failure = CursorFailure("closure")
        let numbers = { CountingCursor([1, 2]) }
        #expect(throws: failure) { try numbers().forEach { _ in throw failure } }
        #expect(throws: failure) { try numbers().map { $0 }.forEach { _ in throw failure } }
        #expect(throws: failure) { try numbers().filter { _ in true }.forEach { _ in throw failure } }
        #expect(throws: failure) { try numbers().enumerated().forEach { _ in throw failure } }
        #expect(throws: failure) { try numbers().reduce(0) { _, _ in throw failure } }
        #expect(throws: failure) { try numbers().min { _, _ in throw failure } }
        #expect(throws: failure) { try numbers().max { _, _ in throw failure } }
        #expect(throws: failure) { try numbers().contains { _ in throw failure } }
        #expect(throws: failure) { try numbers().first { _ in throw failure } }
        #expect(throws: failure) { try Dictionary(grouping: numbers()) { _ -> Int in throw failure } }
    }

    @Test func failedForEachHasConsumedTheElementAtHand() throws {
        let cursor = CountingCursor(["a", "b", "c"]).enumerated()
        #expect(throws: CursorFailure("closure")) {
            try cursor.forEach { index, _ in
                if index == 1 { throw CursorFailure("closure") }
            }
        }
        #expect(cursor.trace() == [#"(2, "c")"#])
    }
}
