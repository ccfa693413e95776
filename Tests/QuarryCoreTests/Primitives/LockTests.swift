import QuarryCore
import QuarryTestSupport
import Testing

/// Locks, whose value is in the block of their mutex.
@Suite struct LockTests {
    private final class Released: Sendable {
        let count: Recorded<Int>
        init(_ count: Recorded<Int>) { self.count = count }
        deinit { count.update { $0 += 1 } }
    }

    private struct OwnError: Error {}

    /// Values that are empty, need a larger alignment than the mutex, or are large.
    @Test func valuesOfAllLayouts() {
        Lock(()).withLock { _ in }
        OwnedLock(()).withLock { _ in }
        let byte = Lock(UInt8(7))
        #expect(byte.withLock { $0 } == 7)
        let wide = Lock(SIMD64<UInt8>(repeating: 3))
        #expect(UInt(bitPattern: wide.contents) % UInt(MemoryLayout<SIMD64<UInt8>>.alignment) == 0)
        wide.withLock { $0[63] = 4 }
        #expect(wide.withLock { Int($0[0]) + Int($0[63]) } == 7)
        let large = OwnedLock((SIMD64<Int64>(repeating: 1), "text", [1, 2, 3]))
        large.withLock { $0.2.append(4) }
        #expect(large.withLock { $0.1 + "\($0.2.count)" } == "text4")
    }

    /// A value is released once, with the lock, and one that is replaced when it is replaced.
    @Test func valuesAreReleased() {
        let count = Recorded(0)
        do {
            let lock = Lock<Released?>(Released(count))
            lock.withLock { $0 = Released(count) }
            #expect(count.value == 1)
            let owned = OwnedLock(Released(count))
            #expect(owned.withLock { $0.count.value } == 1)
        }
        #expect(count.value == 3)
    }

    /// An error leaves the lock free, and what the closure has changed.
    @Test func closuresThatThrow() {
        let lock = OwnedLock(1)
        #expect(throws: OwnError.self) {
            try lock.withLock { value in
                value = 2
                throw OwnError()
            }
        }
        #expect(lock.withLock { $0 } == 2)
    }

    /// One thread after another has the value.
    @Test func threadsTakeTurns() async throws {
        let lock = Lock([Int]())
        let threads = (0..<4).map { (thread: Int) -> OwnThread<Void> in
            OwnThread { for _ in 0..<1_000 { lock.withLock { $0.append(thread) } } }
        }
        for thread in threads { try await thread.value }
        #expect(
            lock.withLock { values in (0..<4).map { thread in values.count { $0 == thread } } } == [
                1_000, 1_000, 1_000, 1_000,
            ])
    }
}
