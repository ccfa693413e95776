import QuarryTestSupport
import Testing

/// Waits for steps and conditions end with the code that should reach them, and say what is missing.
struct StepTests {
    struct Failure: Error {}

    private func message(_ body: () async throws -> Void) async throws -> String {
        try await #require(throws: Step.NeverReached.self) { try await body() }.description
    }

    private static let returned = "never reached: it is open, because the code that should reach it has returned"
    private static let threw = "never reached: it is open, because the code that should reach it has thrown Failure()"

    @Test func codeThatEndsWithoutAStep() async throws {
        let step = Step("it is open")
        let (task, failing) = (Task {}, Task { throw Failure() })
        #expect(try await message { try await step.reached(by: task) } == Self.returned)
        #expect(try await message { try await step.reached(by: failing) } == Self.threw)
        let (thread, failingThread) = (OwnThread {}, OwnThread { throw Failure() })
        #expect(try await message { try await step.reached(by: thread) } == Self.returned)
        #expect(try await message { try await step.reached(by: failingThread) } == Self.threw)
    }

    @Test func codeThatEndsWithoutACondition() async throws {
        let (task, failing) = (Task {}, OwnThread { throw Failure() })
        #expect(try await message { try await until("it is open", by: task) { false } } == Self.returned)
        #expect(try await message { try await until("it is open", by: failing) { false } } == Self.threw)
    }

    @Test func codeThatReachesItsStepAndEnds() async throws {
        for _ in 0..<100 {
            let step = Step("it is open")
            let task = Task {
                step.reach()
                throw Failure()
            }
            try await step.reached(by: task)
            let isOpen = Recorded(false)
            let thread = OwnThread { isOpen.update { $0 = true } }
            try await until("it is open", by: thread) { isOpen.value }
        }
    }
}
