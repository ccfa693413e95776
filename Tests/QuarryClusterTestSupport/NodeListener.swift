#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The listening socket of a node that lives.
final class NodeListener: Sendable {
    let node: Int
    private let socket: Socket
    private let waker: (read: Int32, write: Int32)
    private let hasEnded = Monitor(false)

    /// Listens from now on: connections wait for `run`.
    init(node: Int, port: UInt16) throws(SystemError) {
        self.node = node
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        waker = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        socket = try Socket()
        try socket.bind(port: port)
        try socket.listen()
    }

    deinit {
        close(waker.read)
        close(waker.write)
    }

    /// Accepts connections until `stop()`.
    func run(_ admit: (Socket) -> Void) {
        while let connection = socket.accept(until: waker.read) { admit(connection) }
        // Refuses the connections that were not accepted.
        socket.close()
        hasEnded.withLock { $0 = true }
    }

    /// Returns when further connections are refused.
    func stop() {
        var byte: UInt8 = 0
        _ = write(waker.write, &byte, 1)
        waitUntilStopped()
    }

    func waitUntilStopped() { hasEnded.wait { $0 } }
}
