/// The pauses between the steps of a backup that may copy a number of bytes in a second. A value.
struct BackupPace {
    private let bytesPerSecond: Int?
    private let pagesPerStep: Int
    private let start: UInt64
    private var copiedBytes = 0.0

    /// - parameter now: nanoseconds of a clock that never goes back.
    init(_ options: BackupOptions, now: UInt64) {
        bytesPerSecond = options.bytesPerSecond
        pagesPerStep = options.pagesPerStep
        start = now
    }

    /// The number of pages of the next step. A pause takes a tenth of a second, unless a single page takes longer.
    ///
    /// - parameter pageSize: in bytes; 0 before it is known.
    func pageCount(pageSize: Int) -> CInt {
        guard let bytesPerSecond else { return CInt(pagesPerStep) }
        return CInt(max(1, min(pagesPerStep, bytesPerSecond / 10 / max(512, pageSize))))
    }

    /// The pause after a step, in nanoseconds.
    mutating func pause(afterCopying bytes: Int, now: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return 0 }
        copiedBytes += Double(bytes)
        let due = copiedBytes / Double(bytesPerSecond) * 1e9
        return UInt64(max(0, min(due - Double(now - start), 1e18)))
    }
}
