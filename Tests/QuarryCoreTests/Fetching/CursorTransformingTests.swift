import QuarryCore
import Testing

@Suite("Cursors that transform")
struct CursorTransformingTests {
    @Test func mapTransformsEachElementWhenAskedForIt() throws {
        let base = CountingCursor([1, 2])
        var transformed: [Int] = []
        let cursor = base.map { n in
            transformed.append(n)
            return "\(n * 10)"
        }
        #expect(base.callCount == 0)
        #expect(try cursor.next() == "10")
        #expect(base.callCount == 1)
        #expect(transformed == [1])
        #expect(try cursor.next() == "20")
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
        #expect(transformed == [1, 2])
    }

    @Test func filterStepsUntilAnElementIsAccepted() throws {
        let base = CountingCursor([1, 2, 3, 4, 5])
        let cursor = base.filter { $0 % 2 == 0 }
        #expect(base.callCount == 0)
        #expect(try cursor.next() == 2)
        #expect(base.callCount == 2)
        #expect(try cursor.next() == 4)
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
    }

    @Test func compactMapLeavesOutNilAlone() throws {
        let base = CountingCursor(["1", "x", "2"])
        let cursor: MapCursor<FilterCursor<MapCursor<CountingCursor<String>, Int?>>, Int> = base.compactMap { Int($0) }
        #expect(base.callCount == 0)
        #expect(try cursor.next() == 1)
        #expect(base.callCount == 1)
        #expect(try cursor.next() == 2)
        #expect(try cursor.next() == nil)

        let nested = CountingCursor([1, 2]).compactMap { n -> Int?? in n == 1 ? .some(nil) : nil }
        #expect(nested.trace() == ["nil"])
    }

    @Test func nilElementDoesNotEndACursorOfOptionals() throws {
        let elements: [Int?] = [1, nil, 3]
        #expect(CountingCursor(elements).trace() == ["Optional(1)", "nil", "Optional(3)"])
        #expect(CountingCursor(elements).map { $0 }.trace() == ["Optional(1)", "nil", "Optional(3)"])
        #expect(CountingCursor(elements).filter { $0 != 1 }.trace() == ["nil", "Optional(3)"])
        #expect(CountingCursor([elements, elements]).joined().trace().count == 6)
        #expect(CountingCursor(elements).dropFirst().trace() == ["nil", "Optional(3)"])
        #expect(CountingCursor(elements).drop { $0 != nil }.trace() == ["nil", "Optional(3)"])
        #expect(CountingCursor(elements).prefix(2).trace() == ["Optional(1)", "nil"])
        #expect(CountingCursor(elements).prefix { $0 != 3 }.trace() == ["Optional(1)", "nil"])
        #expect(AnyCursor(elements).trace() == ["Optional(1)", "nil", "Optional(3)"])
        #expect(try Array(CountingCursor(elements)) == elements)
        #expect(try CountingCursor(elements).contains(nil))
        #expect(try CountingCursor<Int?>([nil]).isEmpty == false)
    }

    @Test func flatMapMakesASegmentWhenThePreviousOneIsExhausted() throws {
        let base = CountingCursor([2, 0, 3])
        var segments: [CountingCursor<Int>] = []
        let cursor = base.flatMap { count in
            let segment = CountingCursor(Array(repeating: count, count: count))
            segments.append(segment)
            return segment
        }
        #expect(base.callCount == 0)
        #expect(try cursor.next() == 2)
        #expect(segments.count == 1)
        #expect(segments[0].callCount == 1)
        #expect(try cursor.next() == 2)
        #expect(segments.count == 1)
        #expect(try cursor.next() == 3)
        #expect(segments.count == 3)
        #expect(cursor.trace() == ["3", "3"])
        #expect(try cursor.next() == nil)
        #expect(base.callCount == 5)
    }

    @Test func flatMapReleasesASegmentBeforeItMakesTheNext() throws {
        weak var first: CountingCursor<Int>?
        let cursor = CountingCursor([1, 2]).flatMap { n in
            #expect(first == nil)
            let segment = CountingCursor([n])
            if n == 1 { first = segment }
            return segment
        }
        #expect(cursor.trace() == ["1", "2"])
    }

    @Test func flatMapTakesSequences() {
        let cursor = CountingCursor(["ab", "", "c"]).flatMap { $0 }
        #expect(cursor.trace() == ["a", "b", "c"])
    }

    @Test func flatMapOfASequenceToCursorsIsLazy() throws {
        var made = 0
        let cursor = [1, 2].flatMap { n in
            made += 1
            return CountingCursor([n, n])
        }
        #expect(made == 0)
        #expect(try cursor.next() == 1)
        #expect(made == 1)
        #expect(cursor.trace() == ["1", "2", "2"])
    }

    @Test func joinedTakesCursorsAndSequences() throws {
        let cursors = CountingCursor([CountingCursor([1, 2]), CountingCursor([]), CountingCursor([3])])
        let flattened: FlattenCursor<CountingCursor<CountingCursor<Int>>> = cursors.joined()
        #expect(cursors.callCount == 0)
        #expect(flattened.trace() == ["1", "2", "3"])
        #expect(CountingCursor([[1, 2], [], [3]]).joined().trace() == ["1", "2", "3"])
    }

    @Test func enumeratedCountsFromZero() throws {
        let base = CountingCursor(["a", "b"])
        let cursor = base.enumerated()
        #expect(base.callCount == 0)
        #expect(try cursor.next() ?? (-1, "") == (0, "a"))
        #expect(try cursor.next() ?? (-1, "") == (1, "b"))
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
    }

    @Test func forEachGoesOnAfterNext() throws {
        func remainder<C: Cursor>(of cursor: C) throws -> [C.Element] {
            _ = try cursor.next()
            var elements: [C.Element] = []
            try cursor.forEach { elements.append($0) }
            #expect(try cursor.next() == nil)
            return elements
        }
        #expect(try remainder(of: CountingCursor([1, 2, 3])) == [2, 3])
        #expect(try remainder(of: AnyCursor([1, 2, 3])) == [2, 3])
        #expect(try remainder(of: CountingCursor([1, 2, 3]).map { $0 * 10 }) == [20, 30])
        #expect(try remainder(of: CountingCursor([1, 2, 3, 4]).filter { $0 % 2 == 0 }) == [4])
        #expect(try remainder(of: CountingCursor([[1, 2], [3]]).joined()) == [2, 3])
        #expect(try remainder(of: CountingCursor([1, 2, 3]).enumerated()).map { "\($0)" } == ["(1, 2)", "(2, 3)"])
        #expect(try remainder(of: CountingCursor([1, 2, 3]).dropFirst()) == [3])
        #expect(try remainder(of: CountingCursor([1, 2, 3]).drop { $0 < 2 }) == [3])
        #expect(try remainder(of: CountingCursor([1, 2, 3, 4]).prefix(3)) == [2, 3])
        #expect(try remainder(of: CountingCursor([1, 2, 3, 4]).prefix { $0 < 3 }) == [2])
    }

    @Test func forEachReturnsTheElementsOfNext() throws {
        func elements<C: Cursor>(of cursor: C) throws -> [C.Element] {
            var elements: [C.Element] = []
            try cursor.forEach { elements.append($0) }
            return elements
        }
        #expect(try elements(of: CountingCursor([1, 2, 3]).dropFirst()) == [2, 3])
        #expect(try elements(of: CountingCursor([1, 2, 3]).dropFirst(4)) == [])
        #expect(try elements(of: CountingCursor([1, 2, 1]).drop { $0 == 1 }) == [2, 1])
        #expect(try elements(of: CountingCursor([1, 1]).drop { $0 == 1 }) == [])
        #expect(try elements(of: CountingCursor([1, 2]).enumerated()).map { "\($0)" } == ["(0, 1)", "(1, 2)"])
    }

    @Test func anyCursorErasesClosuresIteratorsSequencesAndCursors() throws {
        let base = CountingCursor([1, 2])
        let erased = AnyCursor(base)
        #expect(base.callCount == 0)
        #expect(erased.trace() == ["1", "2"])

        #expect(AnyCursor([1, 2]).trace() == ["1", "2"])
        var iterator = [1, 2, 3].makeIterator()
        _ = iterator.next()
        #expect(AnyCursor(iterator: iterator).trace() == ["2", "3"])
        #expect(AnyCursor<Int> { throw CursorFailure("no") }.trace(limit: 2) == ["!no", "!no"])
    }

    @Test func anyCursorDoesNotAskAClosureAgainAfterNil() throws {
        var calls = 0
        let cursor = AnyCursor<Int> {
            calls += 1
            return calls == 2 ? nil : calls
        }
        #expect(try cursor.next() == 1)
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
        #expect(calls == 2)
    }
}
