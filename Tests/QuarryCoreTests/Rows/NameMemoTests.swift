import Testing

@testable import QuarryCore

@Suite("What is known of names") struct NameMemoTests {
    /// How many of the names were expected, which are added where they are new.
    private func expected(_ memo: inout NameMemo, _ names: [String]) -> Int {
        var count = 0
        for name in names {
            if let place = memo.expectedPlace(name) {
                #expect(Int(memo.entries[place].column) == name.utf8.count)
                count += 1
            } else if memo.place(name, spelled: true) == nil {
                _ = memo.append(name, column: name.utf8.count)
            }
        }
        return count
    }

    @Test func theSameOrder() {
        var memo = NameMemo()
        let names = ["a", "bb", "ccc", "a name that is too long for a word"]
        #expect(expected(&memo, names) == 0)
        for _ in 1...3 { #expect(expected(&memo, names) == 4) }
        #expect(memo.entries.map(\.column) == [1, 2, 3, 34])
    }

    @Test func anotherOrderIsLearned() {
        var memo = NameMemo()
        #expect(expected(&memo, ["a", "bb", "ccc", "dddd"]) == 0)
        _ = expected(&memo, ["dddd", "ccc", "bb", "a"])
        _ = expected(&memo, ["dddd", "ccc", "bb", "a"])
        #expect(expected(&memo, ["dddd", "ccc", "bb", "a"]) == 4)
        // A name that is left out.
        _ = expected(&memo, ["dddd", "bb", "a"])
        #expect(expected(&memo, ["dddd", "bb", "a"]) == 3)
        #expect(memo.entries.count == 4)
    }

    @Test func theSameNameTwice() {
        var memo = NameMemo()
        _ = expected(&memo, ["a", "a", "bb"])
        _ = expected(&memo, ["a", "a", "bb"])
        // The second one is found, and changes nothing.
        #expect(expected(&memo, ["a", "a", "bb"]) == 2)
    }

    @Test func equalNamesInOtherStorage() {
        var memo = NameMemo()
        let name = "a name that is too long for a word"
        _ = memo.append(name, column: 1)
        let other = String(decoding: Array(name.utf8), as: UTF8.self)
        #expect(memo.expectedPlace(other) == nil)
        #expect(memo.place(other, spelled: false) == nil)
        #expect(memo.place(other, spelled: true) == 0)
        #expect(memo.expectedPlace(name) == 0)
    }

    /// The last column that SQLite can have: <https://www.sqlite.org/limits.html>.
    @Test func aColumnFarToTheRight() {
        var memo = NameMemo()
        _ = memo.append("a", column: 32_766)
        #expect(memo.entries.map(\.column) == [32_766])
    }

    @Test func tooManyNames() {
        var memo = NameMemo()
        for number in 0..<300 {
            let place = memo.append("name\(number)", column: number)
            #expect(place == (number < 256 ? number : nil))
        }
        #expect(memo.place("name255", spelled: true) == 255)
        #expect(memo.place("name256", spelled: true) == nil)
        #expect(memo.expectedPlace("name0") == 0)
    }
}
