import Testing

@testable import QuarryCore

@Suite("What is known of names") struct NameMemoTests {
    /// How many of the names were expected, which are added where they are new.
    private func expected(_ memo: inout NameMemo<Int>, _ names: [String]) -> Int {
        var count = 0
        for name in names {
            if let place = memo.expectedPlace(name) {
                #expect(memo.entries[place].fact == name.utf8.count)
                count += 1
            } else if memo.place(name, spelled: true) == nil {
                _ = memo.append(name, name.utf8.count)
            }
        }
        return count
    }

    @Test func theSameOrder() {
        var memo = NameMemo<Int>()
        let names = ["a", "bb", "ccc", "a name that is too long for a word"]
        #expect(expected(&memo, names) == 0)
        for _ in 1...3 { #expect(expected(&memo, names) == 4) }
        #expect(memo.entries.map(\.fact) == [1, 2, 3, 34])
    }

    @Test func anotherOrderIsLearned() {
        var memo = NameMemo<Int>()
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
        var memo = NameMemo<Int>()
        _ = expected(&memo, ["a", "a", "bb"])
        _ = expected(&memo, ["a", "a", "bb"])
        // The second one is found, and changes nothing.
        #expect(expected(&memo, ["a", "a", "bb"]) == 2)
    }

    @Test func equalNamesInOtherStorage() {
        var memo = NameMemo<Int>()
        let name = "a name that is too long for a word"
        _ = memo.append(name, 1)
        let other = String(decoding: Array(name.utf8), as: UTF8.self)
        #expect(memo.expectedPlace(other) == nil)
        #expect(memo.place(other, spelled: false) == nil)
        #expect(memo.place(other, spelled: true) == 0)
        #expect(memo.expectedPlace(name) == 0)
    }

    @Test func tooManyNames() {
        var memo = NameMemo<Int>()
        for number in 0..<300 {
            let place = memo.append("name\(number)", number)
            #expect(place == (number < 256 ? number : nil))
        }
        #expect(memo.place("name255", spelled: true) == 255)
        #expect(memo.place("name256", spelled: true) == nil)
        #expect(memo.expectedPlace("name0") == 0)
    }
}
