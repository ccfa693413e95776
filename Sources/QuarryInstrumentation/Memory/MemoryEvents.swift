#if Instrumentation || AllButTLS
/// The counts of a control group's memory events, as Linux writes them:
/// <https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files>.
struct MemoryEvents: Equatable {
    /// How often memory was reclaimed because of `memory.high`, or because the group was at `memory.max`.
    var high = 0
    var max = 0
    /// How often no memory could be reclaimed.
    var oom = 0

    /// - parameter text: lines of a name and a number. Unknown lines are ignored.
    /// - returns: nil if the text has none of the counts.
    init?(_ text: String) {
        var isKnown = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let count = Int(words[1]) else { continue }
            switch words[0] {
            case "high": high = count
            case "max": max = count
            case "oom": oom = count
            default: continue
            }
            isKnown = true
        }
        if !isKnown { return nil }
    }

    /// Whether any of the counts is greater than before. Counts start again when a container does.
    func showPressure(since earlier: MemoryEvents?) -> Bool {
        guard let earlier else { return false }
        return high > earlier.high || max > earlier.max || oom > earlier.oom
    }

    /// The folder of the control group of a process.
    ///
    /// - parameter membership: the text of `/proc/self/cgroup`, in which version 2 has the line `0::/path`.
    /// - returns: nil if the process is in no group of version 2.
    static func folder(membership: String) -> String? {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let group = line.dropFirst(3)
        return "/sys/fs/cgroup" + (group == "/" ? "" : group)
    }
}
#endif
