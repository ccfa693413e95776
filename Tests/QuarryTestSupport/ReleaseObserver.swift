/// Runs a closure when the object is released.
public final class ReleaseObserver: @unchecked Sendable {
    // Sendable: tests release the object on one thread.
    private let action: () -> Void

    public init(_ action: @escaping () -> Void) { self.action = action }

    deinit { action() }
}
