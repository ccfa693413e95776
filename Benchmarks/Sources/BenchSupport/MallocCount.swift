import CMallocCounter

/// Counts the allocations of the process, on all threads.
enum MallocCount {
    static var isAvailable: Bool { malloc_counter_is_available() }

    /// The number of blocks that were asked for while `body` ran.
    static func during(_ body: () throws -> Void) rethrows -> Int {
        malloc_counter_start()
        defer { _ = malloc_counter_stop() }
        try body()
        return Int(malloc_counter_stop())
    }
}
