/// Is called after commits of other connections.
final class OtherCommitObserver: Sendable {
    let onCommit: @Sendable () -> Void

    init(_ onCommit: @escaping @Sendable () -> Void) { self.onCommit = onCommit }
}
