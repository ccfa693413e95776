/// Is called after commits of other connections.
package final class OtherCommitObserver: Sendable {
    let onCommit: @Sendable () -> Void

    package init(_ onCommit: @escaping @Sendable () -> Void) { self.onCommit = onCommit }
}
