/// Whether a file is a control file of packages, told by its beginning.
///
///     var probe = ControlFileProbe()
///     probe.findsPackage(in: firstBlock)  // true: import it
public struct ControlFileProbe: Sendable {
    private var parser = ControlFileParser(keeping: Package.fieldNames)

    /// The first problem that was found.
    public private(set) var reason: MalformedStanza?

    public init() {}

    /// Whether a stanza that ends in the next block is that of a package.
    public mutating func findsPackage(in block: [UInt8]) -> Bool { findsPackage(in: parser.parse(block)) }

    /// Whether the stanza that the end of the file ends is that of a package.
    public mutating func findsPackageAtEnd() -> Bool { findsPackage(in: parser.finish()) }

    private mutating func findsPackage(in items: [ControlFileParser.Item]) -> Bool {
        for item in items {
            do throws(MalformedStanza) {
                _ = try Package(stanza: try item.get())
                return true
            } catch {
                if reason == nil { reason = error }
            }
        }
        return false
    }
}
