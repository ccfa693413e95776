import Synchronization

/// A line on standard error that says how far something has come: drawn anew on a terminal, elsewhere a line now and
/// then.
///
/// Any task may show it, as the callbacks for the progress of a backup or a salvage do.
final class StatusLine: Sendable {
    private struct State {
        var isShown = false
        var lastShown: Duration?
        var isDrawn = false
    }

    private let state = Mutex(State())
    private let console: Console
    private let start = ContinuousClock.now

    init(_ console: Console) { self.console = console }

    /// Whether lines are shown: between `begin` and `finish`.
    var isShown: Bool { state.withLock(\.isShown) }

    func begin() { state.withLock { $0.isShown = true } }

    /// Shows a line, unless another one was shown just before.
    ///
    /// - parameter elapsed: the time of the line.
    func show(_ line: @autoclosure () -> String, at elapsed: Duration) {
        state.withLock { state in
            guard state.isShown else { return }
            let interval: Duration = console.errorIsTerminal ? .milliseconds(100) : .seconds(2)
            if let lastShown = state.lastShown, elapsed - lastShown < interval { return }
            state.lastShown = elapsed
            if console.errorIsTerminal {
                console.error("\r\u{1B}[K" + line().printable)
                state.isDrawn = true
            } else {
                console.error(line().printable + "\n")
            }
        }
    }

    /// Shows a line, which is made of the time since the beginning.
    func show(_ line: (Duration) -> String) {
        let elapsed = ContinuousClock.now - start
        show(line(elapsed), at: elapsed)
    }

    /// A line that stays, above the one that is drawn anew.
    func say(_ line: String) {
        state.withLock { state in
            erase(&state)
            console.error(line.printable + "\n")
        }
    }

    /// Later output begins on a new line.
    func finish() {
        state.withLock { state in
            erase(&state)
            state.isShown = false
        }
    }

    private func erase(_ state: inout State) {
        if state.isDrawn { console.error("\r\u{1B}[K") }
        state.isDrawn = false
    }
}
