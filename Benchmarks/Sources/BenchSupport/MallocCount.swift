import CMallocCounter

/// Counts the allocations of the process, on all threads.
package enum MallocCount {
    package static var isAvailable: Bool { malloc_counter_is_available() }

    /// The number of blocks that were asked for while `body` ran.
    static func during(_ body: () throws -> Void) rethrows -> Int {
        malloc_counter_start()
        defer { _ = malloc_counter_stop() }
        try body()
        return Int(malloc_counter_stop())
    }

    /// How many bytes what `make` returns keeps in the heap.
    static func bytesKept(by make: () throws -> Any) rethrows -> Int {
        malloc_counter_start()
        defer { _ = malloc_counter_stop() }
        let kept = try make()
        return withExtendedLifetime(kept) { Int(malloc_counter_live_bytes()) }
    }
}
