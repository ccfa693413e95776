import QuarryCore
import Testing

@Suite("Cursors that leave out a part")
struct CursorSlicingTests {
    @Test func dropFirstStepsAtTheFirstNext() throws {
        let base = CountingCursor([1, 2, 3, 4])
        let cursor = base.dropFirst(2)
        #expect(base.callCount == 0)
        #expect(try cursor.next() == 3)
        #expect(base.callCount == 3)
        #expect(try cursor.next() == 4)
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
        #expect(CountingCursor([1, 2]).dropFirst().trace() == ["2"])
        #expect(CountingCursor([1, 2]).dropFirst(0).trace() == ["1", "2"])
    }

    @Test func dropFirstPastTheEndIsEmpty() throws {
        let base = CountingCursor([1, 2])
        let cursor = base.dropFirst(.max)
        #expect(try cursor.next() == nil)
        #expect(base.callCount == 4)
        #expect(try cursor.next() == nil)
        #expect(base.callCount == 5)
    }

    @Test func dropWhileAsksNoMoreAfterARefusal() throws {
        let base = CountingCursor([1, 2, 3, 1])
        var asked: [Int] = []
        let cursor = base.drop { n in
            asked.append(n)
            return n < 3
        }
        #expect(base.callCount == 0)
        #expect(try cursor.next() == 3)
        #expect(base.callCount == 3)
        #expect(try cursor.next() == 1)
        #expect(try cursor.next() == nil)
        #expect(try cursor.next() == nil)
        #expect(asked == [1, 2, 3])
    }

    @Test func prefixDoesNotStepPastItsLastElement() throws {
        let base = CountingCursor([1, 2, 3])
        let cursor = base.prefix(2)
        #expect(base.callCount == 0)
        #expect(cursor.trace() == ["1", "2"])
        #expect(try cursor.next() == nil)
        #expect(base.callCount == 2)
        #expect(try base.next() == 3)

        let none = CountingCursor([1])
        #expect(try none.prefix(0).next() == nil)
        #expect(none.callCount == 0)
        #expect(CountingCursor([1, 2]).prefix(.max).trace() == ["1", "2"])
    }

    @Test func prefixWhileEndsAtARefusal() throws {
        let base = CountingCursor([1, 2, 3, 1])
        let cursor = base.prefix { $0 < 3 }
        #expect(base.callCount == 0)
        #expect(cursor.trace() == ["1", "2"])
        #expect(base.callCount == 3)
        #expect(try cursor.next() == nil)
        #expect(base.callCount == 3)
        #expect(try base.next() == 1)

        let short = CountingCursor([1]).prefix { $0 < 3 }
        #expect(short.trace() == ["1"])
        #expect(try short.next() == nil)
    }

    @Test func slicesOfSlicesCompose() throws {
        let base = CountingCursor(Array(0..<100))
        let cursor = base.dropFirst(10).prefix(5).dropFirst(2).enumerated().map { $0.0 + $0.1 }
        #expect(cursor.trace() == ["12", "14", "16"])
        #expect(base.callCount == 15)
    }

    @Test func negativeCountsAreErrors() {
        func expectMisuse(_ method: String, _ call: (CountingCursor<Int>) throws -> Void) {
            let base = CountingCursor([1, 2])
            #expect {
                try call(base)
            } throws: { error in
                let error = error as? DatabaseError
                return error?.resultCode == .SQLITE_MISUSE
                    && error?.message == "Cursor.\(method): -1 is not a number of elements"
            }
            #expect(base.callCount == 0)
        }
        expectMisuse("dropFirst(_:)") { _ = try $0.dropFirst(-1).next() }
        expectMisuse("dropFirst(_:)") { try $0.dropFirst(-1).forEach { _ in } }
        expectMisuse("prefix(_:)") { _ = try $0.prefix(-1).next() }
        expectMisuse("suffix(_:)") { _ = try $0.suffix(-1) }
        expectMisuse("dropLast(_:)") { _ = try $0.dropLast(-1) }
    }
}
