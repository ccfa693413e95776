import QuarryCore

/// A cursor that counts how often it is asked, and throws where a test wants it to.
final class CountingCursor<Element>: Cursor {
    enum Step {
        case element(Element)
        case failure(CursorFailure)
    }

    private var steps: ArraySlice<Step>
    private(set) var callCount = 0

    init(steps: [Step]) {
        self.steps = steps[...]
    }

    convenience init(_ elements: [Element]) {
        self.init(steps: elements.map { .element($0) })
    }

    func next() throws -> Element? {
        callCount += 1
        switch steps.popFirst() {
        case .element(let element): return element
        case .failure(let failure): throw failure
        case nil: return nil
        }
    }
}

/// The error that the cursors and closures of these tests throw.
struct CursorFailure: Error, Equatable {
    var name: String

    init(_ name: String) {
        self.name = name
    }
}

extension Cursor {
    /// Steps to the end, and tells elements and errors in their order; for cursors without an end, `limit` of them.
    func trace(limit: Int = 100) -> [String] {
        var trace: [String] = []
        for _ in 0..<limit {
            do {
                guard let element = try next() else { return trace }
                trace.append("\(element)")
            } catch {
                trace.append("!\((error as? CursorFailure)?.name ?? "\(error)")")
            }
        }
        return trace
    }
}
