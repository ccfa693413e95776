/// A task or thread that a test starts. A wait for one of its steps fails as soon as it has ended.
///
/// ```swift
/// let write = Task { try await dbPool.write { db in … ; hasWritten.reach() } }
/// try await hasWritten.reached(by: write)
/// ```
public protocol CodeUnderTest: Sendable {
    /// Calls `body` when the code has ended.
    ///
    /// - parameter body: gets the error that it has thrown; nil if it has returned.
    func whenEnded(_ body: @escaping @Sendable ((any Error)?) -> Void)
}

extension Task: CodeUnderTest {
    public func whenEnded(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        Task<Void, Never>.detached {
            switch await result {
            case .success: body(nil)
            case .failure(let error): body(error)
            }
        }
    }
}

extension OwnThread: CodeUnderTest {
    public func whenEnded(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        isOver.whenReached { [self] in body(error) }
    }
}
