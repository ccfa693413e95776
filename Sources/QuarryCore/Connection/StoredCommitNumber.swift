/// The number of the last commit, which the file keeps, and the number of the next. A value.
///
/// ```
///                       in the file    last    written
/// BEGIN                 7              7
/// INSERT …              7              7
/// COMMIT begins         8              7       8
/// COMMIT has ended      8              8
/// ```
///
/// The number is written in the transaction itself, so a crash leaves a commit and its number, or neither.
struct StoredCommitNumber: Equatable {
    /// The number of the last commit that the connection knows: one of its own, or of another.
    private(set) var last: Int

    /// The number that the open transaction has written.
    private(set) var written: Int?

    /// The running statements and open blobs of a transaction that the library has begun around a statement or a blob
    /// outside a transaction; none in any other transaction. As in SQLite's own mode without transactions, the last
    /// that ends commits.
    private var running: [ObjectIdentifier] = []

    /// Whether the open transaction is one that the library has begun around a statement or a blob.
    var isInOwnTransaction: Bool { !running.isEmpty }

    /// The file already has a number.
    init(last: Int) { self.last = last }

    /// The number that the open transaction has to write; nil if it has.
    ///
    /// - parameter stored: the number in the file, as the transaction sees it. A rollback to a savepoint may have taken
    ///   back what was written.
    func next(after stored: Int) -> Int? {
        if let written, written == stored { return nil }
        let highest = max(stored, last)
        return highest == .max ? .max : highest + 1
    }

    /// The number of the state in which the open transaction has begun.
    var beforeWritten: Int { written.map { $0 - 1 } ?? last }

    mutating func didWrite(_ number: Int) { written = number }

    /// Another connection has committed.
    mutating func note(_ stored: Int) { last = max(last, stored) }

    /// The open transaction is committed.
    mutating func didCommit() {
        if let number = written.take() { last = number }
        running = []
    }

    /// The open transaction was rolled back.
    mutating func didRollBack() {
        written = nil
        running = []
    }

    /// A statement or blob begins in a transaction that the library has begun.
    mutating func operationWillStart(_ operation: AnyObject) { running.append(ObjectIdentifier(operation)) }

    /// A statement or blob has ended.
    ///
    /// - returns: whether it was the last in a transaction that the library has begun, which then ends.
    mutating func operationDidEnd(_ operation: AnyObject) -> Bool {
        guard let index = running.lastIndex(of: ObjectIdentifier(operation)) else { return false }
        running.remove(at: index)
        return running.isEmpty
    }
}
