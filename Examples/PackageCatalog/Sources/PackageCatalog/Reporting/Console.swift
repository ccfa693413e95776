/// Where a run writes to.
public struct Console: Sendable {
    let output: @Sendable (String) -> Void
    let error: @Sendable (String) -> Void
    let errorIsTerminal: Bool

    /// - parameter errorIsTerminal: whether `error` reaches a terminal, where a line can be drawn anew.
    public init(
        output: @escaping @Sendable (String) -> Void, error: @escaping @Sendable (String) -> Void,
        errorIsTerminal: Bool
    ) {
        self.output = output
        self.error = error
        self.errorIsTerminal = errorIsTerminal
    }
}
