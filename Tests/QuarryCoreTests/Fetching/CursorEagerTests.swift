import QuarryCore
import Testing

@Suite("What consumes a cursor")
struct CursorEagerTests {
    @Test func isEmptyConsumesAnElement() throws {
        #expect(try CountingCursor<Int>([]).isEmpty)
        let cursor = CountingCursor([1, 2])
        #expect(try cursor.isEmpty == false)
        #expect(try cursor.next() == 2)
    }

    @Test func containsAndFirstStopAtTheirElement() throws {
        let byElement = CountingCursor([1, 2, 3])
        #expect(try byElement.contains(2))
        #expect(byElement.callCount == 2)
        #expect(try byElement.contains(2) == false)

        let byClosure = CountingCursor([1, 2, 3])
        #expect(try byClosure.contains { $0 > 1 })
        #expect(byClosure.callCount == 2)
        #expect(try byClosure.next() == 3)

        let first = CountingCursor([1, 2, 3])
        #expect(try first.first { $0 > 1 } == 2)
        #expect(first.callCount == 2)
        #expect(try first.first { $0 > 3 } == nil)
    }

    @Test func reduceMakesAResultOrUpdatesOne() throws {
        #expect(try CountingCursor(["a", "b", "c"]).reduce("", +) == "abc")
        #expect(try CountingCursor<Int>([]).reduce(7, +) == 7)
        let lengths = try CountingCursor(["a", "bb", "c"]).reduce(into: [Int: Int]()) { $0[$1.count, default: 0] += 1 }
        #expect(lengths == [1: 2, 2: 1])
    }

    @Test func minAndMaxReturnTheFirstOfEquals() throws {
        #expect(try CountingCursor([2, 1, 3]).min() == 1)
        #expect(try CountingCursor([2, 1, 3]).max() == 3)
        #expect(try CountingCursor<Int>([]).min() == nil)
        #expect(try CountingCursor<Int>([]).max() == nil)
        let words = ["bb", "a", "cc", "d"]
        #expect(try CountingCursor(words).min { $0.count < $1.count } == "a")
        #expect(try CountingCursor(words).max { $0.count < $1.count } == "bb")
    }

    @Test(arguments: [(0, []), (1, [5]), (2, [4, 5]), (3, [3, 4, 5]), (5, [1, 2, 3, 4, 5])])
    func suffixHasTheLastElements(maxLength: Int, expected: [Int]) throws {
        #expect(try CountingCursor([1, 2, 3, 4, 5]).suffix(maxLength) == expected)
    }

    @Test func suffixMayBeLongerThanTheCursorOrEmpty() throws {
        #expect(try CountingCursor([1, 2]).suffix(.max) == [1, 2])
        let cursor = CountingCursor([1, 2])
        #expect(try cursor.suffix(0) == [])
        #expect(cursor.callCount == 0)
    }

    @Test(arguments: [(0, [1, 2, 3]), (1, [1, 2]), (3, []), (4, []), (.max, [])]) func dropLastLeavesTheFirstElements(
        count: Int, expected: [Int]
    ) throws {
        #expect(try CountingCursor([1, 2, 3]).dropLast(count) == expected)
        #expect(try CountingCursor([1, 2, 3]).dropLast() == [1, 2])
    }

    @Test func joinedMakesOneString() throws {
        #expect(try CountingCursor(["a", "b", "c"]).joined(separator: ", ") == "a, b, c")
        #expect(try CountingCursor(["a", "b"]).joined() as String == "ab")
        #expect(try CountingCursor([String]()).joined(separator: ", ") == "")
        #expect(try CountingCursor(["", "", "x"]).joined(separator: "-") == "--x")
        #expect(try CountingCursor(["ab"[...]]).joined(separator: "-") == "ab")
    }

    @Test func collectionsAreMadeOfCursors() throws {
        #expect(try Array(CountingCursor([1, 2])) == [1, 2])
        #expect(try ContiguousArray(CountingCursor([1, 2])) == [1, 2])
        #expect(try String(CountingCursor([Character("a"), "b"])) == "ab")
        #expect(try Array(CountingCursor([1, 2]), minimumCapacity: 100) == [1, 2])
        #expect(try Array(CountingCursor([1, 2]), minimumCapacity: 100).capacity >= 100)
        #expect(try Array(CountingCursor([1, 2]), minimumCapacity: -1) == [1, 2])
        var array = [0]
        try array.append(contentsOf: CountingCursor([1, 2]))
        #expect(array == [0, 1, 2])
    }

    @Test func elementsBeforeAnErrorAreAppended() throws {
        let steps: [CountingCursor<Int>.Step] = [.element(1), .failure(CursorFailure("step")), .element(2)]
        var array = [0]
        #expect(throws: CursorFailure("step")) { try array.append(contentsOf: CountingCursor(steps: steps)) }
        #expect(array == [0, 1])
        var union: Set = [0]
        #expect(throws: CursorFailure("step")) { try union.formUnion(CountingCursor(steps: steps)) }
        #expect(union == [0, 1])
        var intersection: Set = [0, 1]
        #expect(throws: CursorFailure("step")) { try intersection.formIntersection(CountingCursor(steps: steps)) }
        #expect(intersection == [0, 1])
    }

    @Test func setsAreMadeOfCursors() throws {
        #expect(try Set(CountingCursor([1, 2, 1])) == [1, 2])
        #expect(try Set(CountingCursor([1, 2, 1]), minimumCapacity: 100).capacity >= 100)
        #expect(try Set(CountingCursor([1]), minimumCapacity: -1) == [1])
        #expect(try Set([1, 2]).union(CountingCursor([2, 3])) == [1, 2, 3])
        #expect(try Set([1, 2]).intersection(CountingCursor([2, 3, 2])) == [2])
        var set: Set = [1, 2]
        try set.formUnion(CountingCursor([3]))
        #expect(set == [1, 2, 3])
        try set.formIntersection(CountingCursor([3, 4, 1]))
        #expect(set == [1, 3])
    }

    @Test func intersectionKeepsTheMembersOfTheSet() throws {
        struct Tagged: Hashable {
            var key: Int
            var tag: String
            static func == (lhs: Tagged, rhs: Tagged) -> Bool { lhs.key == rhs.key }
            func hash(into hasher: inout Hasher) { hasher.combine(key) }
        }
        let set: Set = [Tagged(key: 1, tag: "set")]
        let common = try set.intersection(CountingCursor([Tagged(key: 1, tag: "cursor")]))
        #expect(common.map(\.tag) == ["set"])
    }

    @Test func groupsHaveTheOrderOfTheCursor() throws {
        let words = ["b", "aa", "a", "bb"]
        let expected = [1: ["b", "a"], 2: ["aa", "bb"]]
        #expect(try Dictionary(grouping: CountingCursor(words)) { $0.count } == expected)
        #expect(try Dictionary(minimumCapacity: 100, grouping: CountingCursor(words)) { $0.count } == expected)
        #expect(try Dictionary(minimumCapacity: 100, grouping: CountingCursor(words)) { $0.count }.capacity >= 100)
        #expect(try Dictionary(minimumCapacity: -1, grouping: CountingCursor(words)) { $0.count } == expected)
    }

    @Test func pairsBecomeDictionaries() throws {
        let pairs = CountingCursor([1, 2]).map { ($0, "\($0)") }
        #expect(try Dictionary(uniqueKeysWithValues: pairs) == [1: "1", 2: "2"])
        let morePairs = CountingCursor([1, 2]).map { ($0, "\($0)") }
        let dictionary = try Dictionary(minimumCapacity: 100, uniqueKeysWithValues: morePairs)
        #expect(dictionary == [1: "1", 2: "2"])
        #expect(dictionary.capacity >= 100)
    }

    @Test func duplicateKeyIsAnErrorThatNamesIt() throws {
        let pairs = CountingCursor(["a", "b", "a", "c"]).map { ($0, 1) }
        let error = try #require(throws: DatabaseError.self) { try Dictionary(uniqueKeysWithValues: pairs) }
        #expect(error.message == #"Dictionary(uniqueKeysWithValues:): the key "a" occurs twice"#)
        #expect(pairs.trace() == [#"("c", 1)"#])
    }
}
