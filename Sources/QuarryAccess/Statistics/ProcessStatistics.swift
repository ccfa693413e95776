import QuarryCore

/// The memory that SQLite has allocated in this process, for all databases:
/// <https://www.sqlite.org/c3ref/c_status_malloc_count.html>.
///
/// ```swift
/// print(DatabaseStatistics.process.memoryBytes)
/// ```
public struct ProcessStatistics: Sendable, Hashable {
    /// The bytes of memory that SQLite uses, page caches included.
    public let memoryBytes: Int
    /// The most bytes that it has used.
    public let highestMemoryBytes: Int
    /// The number of its allocations that aren't freed.
    public let allocationCount: Int
    /// The bytes of page caches that were allocated outside the memory configured for them; usually all.
    public let pageCacheOverflowBytes: Int
}

extension DatabaseStatistics {
    /// The memory of SQLite in this process. Everything is 0 if the program has turned SQLite's memory statistics off.
    public static var process: ProcessStatistics {
        let memory = ProcessMemory.current
        return ProcessStatistics(
            memoryBytes: memory.bytes, highestMemoryBytes: memory.highestBytes,
            allocationCount: memory.allocationCount, pageCacheOverflowBytes: memory.pageCacheOverflowBytes)
    }
}
