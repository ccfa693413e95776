/// The latest commits, for several readers that have each read up to a number. A value.
///
/// All readers share one copy of a commit. A reader that is further behind than its limit has missed commits.
package struct CommitLog {
    /// Identifies a reader.
    package struct ReaderID: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Reader {
        /// The number of the last commit that it has read.
        var position: Int
        /// The number of commits that are kept for it.
        let limit: Int
    }

    /// The kept commits, whose numbers follow one another.
    private var commits = Deque<DatabaseCommit>()

    /// The number of the last commit.
    private var last = 0

    /// The number of the last commit that the program is told.
    private var lastCommitNumber = CommitNumber(rawValue: 0)

    private var readers: [ReaderID: Reader] = [:]
    private var lastReader = 0

    /// The commits that a reader has taken last, and the number of the one before them. A hundred readers that are
    /// woken together share this list: copying it for each of them would let the writer wait for the log meanwhile.
    private var batch: (position: Int, commits: [DatabaseCommit]) = (0, [])

    /// The number of commits that a reader takes at once, at most: a hundred readers that took 64 each waited for the
    /// log as often as the writer commits.
    private static let largestBatch = 512

    /// The smallest number of commits that are kept for a reader; the largest integer if there is none.
    private(set) var smallestLimit = Int.max

    /// The count above which commits that all have read are looked for.
    private var trimmingCount = minimumTrimmingCount
    private static let minimumTrimmingCount = 64

    /// The number of kept commits.
    var count: Int { commits.count }

    var readerCount: Int { readers.count }

    /// Whether it has no reader.
    var isUnread: Bool { readers.isEmpty }

    /// Adds a reader of the commits that follow.
    ///
    /// - parameter limit: the number of commits that are kept for it.
    mutating func addReader(limit: Int) -> ReaderID {
        lastReader += 1
        let id = ReaderID(number: lastReader)
        readers[id] = Reader(position: last, limit: max(limit, 1))
        smallestLimit = min(smallestLimit, max(limit, 1))
        return id
    }

    /// Lets a reader skip commits: the state from which it starts has them.
    mutating func skip(_ id: ReaderID, to position: Int) { readers[id]?.position = position }

    mutating func removeReader(_ id: ReaderID) {
        readers[id] = nil
        smallestLimit = readers.values.reduce(Int.max) { min($0, $1.limit) }
        trim()
    }

    /// A commit has happened.
    ///
    /// - parameter commitNumber: the number that the program is told.
    /// - parameter commit: makes it, if it has a reader.
    mutating func append(_ number: Int, as commitNumber: CommitNumber, _ commit: () -> DatabaseCommit) {
        last = number
        lastCommitNumber = commitNumber
        guard !readers.isEmpty else { return }
        commits.append(commit())
        if commits.count > trimmingCount { trim() }
    }

    /// The number up to which a reader has read.
    func position(of id: ReaderID) -> Int? { readers[id]?.position }

    /// The next commits of a reader, in order; an empty array if it has read all.
    ///
    /// A reader that takes several at once leaves the log to the writer meanwhile. It takes few of those that are kept
    /// for it, so that `limit` bounds what waits for a slow reader.
    mutating func nextFew(_ id: ReaderID) -> [DatabaseCommit] {
        guard let reader = readers[id], reader.position < last else { return [] }
        if let missed = missed(by: reader) {
            readers[id]?.position = missed
            return [.missed(upTo: commitNumber(of: missed))]
        }
        let count = min(last - reader.position, max(1, min(reader.limit / 16, Self.largestBatch)))
        if batch.position != reader.position || batch.commits.isEmpty || batch.commits.count > count {
            let first = index(of: reader.position + 1)
            batch = (reader.position, (first..<(first + count)).map { commits[$0] })
        }
        readers[id]?.position += batch.commits.count
        return batch.commits
    }

    /// The commits of a reader up to a number, in order.
    ///
    /// - parameter commitNumber: the number that the program is told of the last of them.
    mutating func all(_ id: ReaderID, upTo end: Int, as commitNumber: CommitNumber) -> [DatabaseCommit] {
        guard var reader = readers[id], reader.position < end else { return [] }
        var result: [DatabaseCommit] = []
        result.reserveCapacity(min(end - reader.position, commits.count + 1))
        if let missed = missed(by: reader).map({ min($0, end) }) {
            reader.position = missed
            result.append(.missed(upTo: missed == end ? commitNumber : self.commitNumber(of: missed)))
        }
        while reader.position < end {
            reader.position += 1
            result.append(commits[index(of: reader.position)])
        }
        readers[id] = reader
        return result
    }

    /// The number of the last commit that a reader can't read any more.
    private func missed(by reader: Reader) -> Int? {
        let firstKept = max(last - commits.count, last - reader.limit)
        return reader.position < firstKept ? firstKept : nil
    }

    /// The number that the program is told of a commit that is kept, or is followed by one.
    private func commitNumber(of number: Int) -> CommitNumber {
        number < last ? CommitNumber(rawValue: commits[index(of: number + 1)].number.rawValue - 1) : lastCommitNumber
    }

    private func index(of number: Int) -> Int { number - (last - commits.count) - 1 }

    /// Removes the commits that all readers have read.
    private mutating func trim() {
        // No reader reads commits before this number.
        let end = readers.values.reduce(last) { min($0, max($1.position, last - $1.limit)) }
        while last - commits.count < end, commits.popFirst() != nil {}
        if batch.position < end { batch = (0, []) }
        trimmingCount = max(Self.minimumTrimmingCount, commits.count * 2)
    }
}
