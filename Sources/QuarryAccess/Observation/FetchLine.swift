/// The observations that are due on one kind of connections, and the number of running batches. A value.
///
/// One batch takes all that are due. An observation whose last fetch was slow is fetched in a batch without others, so
/// that these don't wait for it.
struct FetchLine<Element> {
    private var due: [Element] = []
    private var slow: [Element] = []
    private(set) var runningCount = 0
    /// Whether a batch has been started that hasn't taken its observations.
    private var isStarting = false
    let maximumBatchCount: Int

    init(maximumBatchCount: Int) { self.maximumBatchCount = max(1, maximumBatchCount) }

    var isEmpty: Bool { due.isEmpty && slow.isEmpty }

    /// - returns: whether a batch must be started.
    mutating func add(_ element: Element, isSlow: Bool) -> Bool {
        if isSlow { slow.append(element) } else { due.append(element) }
        return startsBatch()
    }

    /// A batch has its connection, and takes its observations.
    ///
    /// - parameter isSame: whether two observations share a fetch.
    mutating func take(isSame: (Element, Element) -> Bool) -> [Element] {
        isStarting = false
        if !due.isEmpty {
            defer { due = [] }
            return due
        }
        guard let first = slow.first else { return [] }
        let taken = slow.filter { isSame($0, first) }
        slow.removeAll { isSame($0, first) }
        return taken
    }

    /// A batch had no connection: all that are due share its error.
    mutating func takeAll() -> [Element] {
        isStarting = false
        defer {
            due = []
            slow = []
        }
        return due + slow
    }

    /// Whether a batch must be started for those that are still due.
    mutating func startsBatch() -> Bool {
        guard !isStarting, !isEmpty, runningCount < maximumBatchCount else { return false }
        isStarting = true
        runningCount += 1
        return true
    }

    mutating func batchDidEnd() { runningCount -= 1 }
}
