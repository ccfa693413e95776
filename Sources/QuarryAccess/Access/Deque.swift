/// A queue with two ends: elements are added and removed at either end in constant time, and any element may be
/// removed.
///
/// ```swift
/// var line: Deque<Int> = []
/// line.append(2)
/// line.prepend(1)
/// line.popFirst() // 1
/// ```
///
/// The elements are in a ring, whose length is a power of two.
struct Deque<Element> {
    private var ring: ContiguousArray<Element?> = []
    /// The position of the first element in the ring.
    private var head = 0
    private(set) var count = 0

    /// The position of an element in the ring. Indices before the first and after the last element count too.
    private func position(_ index: Int) -> Int { (head &+ index) & (ring.count &- 1) }

    mutating func append(_ element: Element) {
        makeRoom()
        ring[position(count)] = element
        count += 1
    }

    mutating func prepend(_ element: Element) {
        makeRoom()
        head = position(-1)
        ring[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        count > 0 ? remove(at: 0) : nil
    }

    /// Removes an element. The elements before it move, or those after it, whichever are fewer.
    @discardableResult
    mutating func remove(at index: Int) -> Element {
        let element = self[index]
        if index < count / 2 {
            for offset in stride(from: index, to: 0, by: -1) { ring.swapAt(position(offset), position(offset - 1)) }
            ring[head] = nil
            head = position(1)
        } else {
            for offset in index..<(count - 1) { ring.swapAt(position(offset), position(offset + 1)) }
            ring[position(count - 1)] = nil
        }
        count -= 1
        return element
    }

    mutating func removeAll() { self = Self() }

    private mutating func makeRoom() {
        guard count == ring.count else { return }
        var larger = ContiguousArray<Element?>()
        larger.reserveCapacity(Swift.max(8, count * 2))
        for element in self { larger.append(element) }
        larger.append(contentsOf: repeatElement(nil, count: Swift.max(8, count * 2) - count))
        ring = larger
        head = 0
    }
}

extension Deque: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
    init(arrayLiteral elements: Element...) {
        for element in elements { append(element) }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "Index out of range")
            return ring[position(index)]!
        }
        _modify {
            precondition(index >= 0 && index < count, "Index out of range")
            yield &ring[position(index)]!
        }
    }
}

extension Deque: Sendable where Element: Sendable {}
