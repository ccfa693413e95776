import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

@Suite("A queue with two ends")
struct DequeTests {
    @Test func elementsComeAndGoAtBothEnds() {
        var deque: Deque<Int> = []
        #expect(deque.popFirst() == nil)
        deque.append(2)
        deque.append(3)
        deque.prepend(1)
        #expect(Array(deque) == [1, 2, 3])
        #expect(deque.popFirst() == 1)
        #expect(deque.popFirst() == 2)
        #expect(deque.popFirst() == 3)
        #expect(deque.popFirst() == nil)
        #expect(deque.isEmpty)
    }

    @Test func removedElementsAreReleasedAtOnce() {
        final class Object {}
        var deque: Deque<Object> = []
        weak var first: Object?
        weak var second: Object?
        weak var third: Object?
        do {
            let objects = [Object(), Object(), Object()]
            (first, second, third) = (objects[0], objects[1], objects[2])
            for object in objects { deque.append(object) }
        }
        _ = deque.remove(at: 1)
        #expect(first != nil && second == nil && third != nil)
        _ = deque.popFirst()
        #expect(first == nil && third != nil)
        deque.removeAll()
        #expect(third == nil)
    }

    @Test func copyKeepsItsElements() {
        var deque: Deque<Int> = [1, 2, 3]
        let copy = deque
        deque[1] = 7
        deque.remove(at: 0)
        #expect(Array(deque) == [7, 3])
        #expect(Array(copy) == [1, 2, 3])
    }

    @Test func randomStepsAgreeWithAnArray() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var deque: Deque<Int> = []
        var array: [Int] = []
        for step in 0..<20_000 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...3:
                deque.append(step)
                array.append(step)
            case 4:
                deque.prepend(step)
                array.insert(step, at: 0)
            case 5...7:
                let element = array.isEmpty ? nil : array.removeFirst()
                #expect(deque.popFirst() == element, "seed \(seed), step \(step)")
            case 8, 9:
                guard let index = array.indices.randomElement(using: &generator) else { continue }
                let element = array.remove(at: index)
                #expect(deque.remove(at: index) == element, "seed \(seed), step \(step)")
            case 10:
                guard let index = array.indices.randomElement(using: &generator) else { continue }
                deque[index] = -step
                array[index] = -step
            default:
                guard Int.random(in: 0..<100, using: &generator) == 0 else { continue }
                deque.removeAll()
                array.removeAll()
            }
            guard deque.elementsEqual(array), deque.count == array.count else {
                Issue.record("seed \(seed), step \(step): \(Array(deque)) instead of \(array)")
                return
            }
        }
    }
}
