extension AsyncExecution {
    /// Where reads run.
    func readPlacement(inMemory: Bool) -> AccessRunner.Placement {
        switch self {
        case .inline: .inline
        case .offloaded: .offloaded
        case .automatic: inMemory ? .inline : .measured
        }
    }

    /// Where accesses run that may write, or that begin no transaction: they may wait for a lock, or for the disk.
    func writePlacement(inMemory: Bool) -> AccessRunner.Placement {
        switch self {
        case .inline: .inline
        case .offloaded: .offloaded
        case .automatic: inMemory ? .inline : .offloaded
        }
    }
}
