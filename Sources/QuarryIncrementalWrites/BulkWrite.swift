public import QuarryCore

/// The part of a bulk write that is committed: the first elements of the sequence.
///
/// ```swift
/// let result = try await dbPool.insertIncrementally(players) { progress in
///     print("\(progress.elementCount) players, \(progress.rowCount) of them are new")
/// }
/// ```
public struct BulkWriteProgress: Sendable, Hashable {
    /// The number of elements.
    public internal(set) var elementCount = 0

    /// The number of rows that were inserted or updated: less than `elementCount` if conflicts are ignored. Elements
    /// that a closure writes count as one row each.
    public internal(set) var rowCount = 0

    /// The number of transactions.
    public internal(set) var transactionCount = 0
}

/// An error that has ended a bulk write.
///
/// ```swift
/// do {
///     try await dbPool.insertIncrementally(players)
/// } catch let error as BulkWriteError {
///     print(error) // "element 1234, after 1024 committed ones: SQLite error 19: UNIQUE constraint failed: …"
///     players.removeFirst(error.committed.elementCount)
/// }
/// ```
///
/// The transaction of the element was rolled back, and earlier transactions stay. A cancelled task throws
/// `CancellationError` instead.
public struct BulkWriteError: Error, CustomStringConvertible {
    /// The index in the sequence of the element that could not be written, or not be read; nil if the error is of no
    /// single element: no connection, a failed commit, an error of `progress`.
    public let elementIndex: Int?

    /// The part of the sequence that is committed.
    public let committed: BulkWriteProgress

    /// The error of the element, of its sequence, or of SQLite.
    public let underlyingError: any Error

    /// The error, if it is SQLite's.
    public var databaseError: DatabaseError? { underlyingError as? DatabaseError }

    /// `element 1234, after 1024 committed ones: SQLite error 19: …`
    public var description: String {
        let place = elementIndex.map { "element \($0)" } ?? "bulk write"
        return "\(place), after \(committed.elementCount) committed ones: \(underlyingError)"
    }
}

/// The elements of a bulk write that no step has written, and the counts of the others.
///
/// Unchecked: a step, or the write that waits for the step's transaction, uses it; one after the other.
final class BulkWrite<Elements: IteratorProtocol>: @unchecked Sendable {
    typealias Element = Elements.Element

    private let stepSize: Int
    private var elements: Elements
    /// The next element; nil at the end.
    private var next: Element?
    private var step: [Element] = []
    /// The elements that were written, in the open transaction too.
    private var written = BulkWriteProgress()
    private(set) var committed = BulkWriteProgress()
    private var failedIndex: Int?

    /// - parameter stepSize: the number of elements in a step.
    init(_ elements: Elements, stepSize: Int) {
        self.elements = elements
        self.stepSize = stepSize
        next = self.elements.next()
    }

    var isAtEnd: Bool { next == nil }

    /// Goes on with more elements of the same sequence.
    func goOn(with elements: Elements) {
        self.elements = elements
        next = self.elements.next()
    }

    /// Writes the elements of a step.
    func write(
        _ db: Database, _ body: (Database, [Element], inout Int) throws -> Int
    ) throws -> IncrementalWriteStep.Completion {
        while step.count < stepSize, let element = next {
            step.append(element)
            next = elements.next()
        }
        var index = 0
        do {
            written.rowCount += try body(db, step, &index)
        } catch {
            failedIndex = written.elementCount + index
            throw error
        }
        written.elementCount += step.count
        step.removeAll(keepingCapacity: true)
        return isAtEnd ? .done : .next
    }

    /// - parameter progress: called with the committed part.
    func transactionDidCommit(_ progress: ((BulkWriteProgress) throws -> Void)?) throws {
        written.transactionCount += 1
        committed = written
        try progress?(committed)
    }

    /// The error that the write throws.
    ///
    /// - parameter index: the index in the sequence of an element that couldn't be read.
    func error(_ error: any Error, readingAt index: Int? = nil) -> any Error {
        if error is CancellationError { return error }
        return BulkWriteError(elementIndex: index ?? failedIndex, committed: committed, underlyingError: error)
    }
}
