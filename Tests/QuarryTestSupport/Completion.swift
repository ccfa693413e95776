/// Suspends until a completion-style access has called back.
public func completion<T: Sendable>(_ body: (@escaping @Sendable (T) -> Void) -> Void) async -> T {
    await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
}
