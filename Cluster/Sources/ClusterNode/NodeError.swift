/// A node, its folder or a connection to it can't be used.
public struct NodeError: Error, Sendable, CustomStringConvertible {
    /// The sentence for the user.
    public let description: String

    init(_ description: String) { self.description = description }
}
