/// How many pages of a database have been copied or read.
struct PageProgress: Sendable, Equatable {
    var completed: Int
    var total: Int

    /// `[########....]  1,234 of 1,851 pages  0:03 left`
    func line(after elapsed: Duration, barWidth: Int = 24) -> String {
        let fraction = total > 0 ? min(Double(completed) / Double(total), 1) : 0
        var parts = [fraction.asBar(width: barWidth), "\(completed.grouped) of \(total.grouped) pages"]
        if let left = timeLeft(after: elapsed, fraction: fraction) { parts.append("\(left.asClock) left") }
        return parts.joined(separator: "  ")
    }
}
