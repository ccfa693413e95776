internal import Foundation

/// The folder of a node: dqlite's files, the node's number and address, and a lock.
public final class NodeDirectory {
    /// The path.
    public let path: String
    private let lock: Int32

    /// Creates the folder if it is missing, and locks it for this process.
    public init(_ path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw NodeError("The folder \(path) can't be created: \(error.localizedDescription)")
        }
        lock = open(path + "/quarry-node.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Sockets.failure("open the folder \(path)") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw NodeError("The folder \(path) is in use by another node.")
        }
    }

    deinit { close(lock) }

    private var file: String { path + "/quarry-node.identity" }

    /// The number and the address of the node, if it ran before.
    public func identity() throws -> (id: UInt64, address: NodeAddress)? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        let parts = try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let id = UInt64(parts[0]) else {
            throw NodeError("The file \(file) doesn't have a number and an address.")
        }
        return (id, try NodeAddress(String(parts[1])))
    }

    /// Writes the number and the address.
    public func setIdentity(_ id: UInt64, _ address: NodeAddress) throws {
        do {
            try "\(id) \(address)\n".write(toFile: file, atomically: true, encoding: .utf8)
        } catch {
            throw NodeError("The file \(file) can't be written: \(error.localizedDescription)")
        }
    }
}

@available(*, unavailable) extension NodeDirectory: Sendable {}
