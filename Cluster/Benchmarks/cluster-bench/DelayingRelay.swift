import ClusterNode
import Foundation
import Synchronization

/// Forwards connections to a node of this machine, and delays all bytes in both directions, as a network would.
final class DelayingRelay: Sendable {
    let port: UInt16
    private let listener: CInt
    private let target: UInt16
    private let delay: UInt64
    private let open = Mutex<Set<CInt>>([])

    /// - parameter delay: nanoseconds, each way.
    init(to address: NodeAddress, delay: UInt64) throws {
        target = address.port
        self.delay = delay
        (listener, port) = try LoopbackSocket.listening()
        Thread { [self] in accept() }.start()
    }

    /// Breaks all connections. Later ones are refused.
    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        open.withLock { for descriptor in $0 { shutdown(descriptor, CInt(SHUT_RDWR)) } }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            guard let node = try? LoopbackSocket.connected(to: target) else {
                close(client)
                continue
            }
            LoopbackSocket.prepare(client)
            open.withLock { $0.formUnion([client, node]) }
            let pair = Pair(client: client, node: node) { [self] in
                open.withLock { _ = $0.remove(client) }
                open.withLock { _ = $0.remove(node) }
            }
            for (source, target) in [(client, node), (node, client)] {
                let queue = DelayedBytes()
                Thread { [delay] in
                    pair.receive(from: source, into: queue, delay)
                }.start()
                Thread { pair.send(queue, to: target) }.start()
            }
        }
        close(listener)
    }

    /// Two connected sockets, closed after the four threads that use them have ended.
    private final class Pair: Sendable {
        private let client: CInt
        private let node: CInt
        private let willClose: @Sendable () -> Void

        init(client: CInt, node: CInt, willClose: @escaping @Sendable () -> Void) {
            (self.client, self.node, self.willClose) = (client, node, willClose)
        }

        deinit {
            willClose()
            close(client)
            close(node)
        }

        func receive(from source: CInt, into queue: DelayedBytes, _ delay: UInt64) {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(source, &buffer, buffer.count, 0)
                guard count > 0 else { return queue.append(nil, at: 0) }
                queue.append(Array(buffer[..<count]), at: DispatchTime.now().uptimeNanoseconds + delay)
                // Otherwise a node, which leaves Nagle's algorithm on, waits with its second response.
                LoopbackSocket.acknowledge(source)
            }
        }

        func send(_ queue: DelayedBytes, to target: CInt) {
            while let (bytes, time) = queue.next() {
                let now = DispatchTime.now().uptimeNanoseconds
                if time > now {
                    var pause = timespec(tv_sec: 0, tv_nsec: Int(time - now))
                    _ = clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nil)
                }
                guard Glibc.send(target, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else { break }
            }
            shutdown(client, CInt(SHUT_RDWR))
            shutdown(node, CInt(SHUT_RDWR))
        }
    }
}

/// Bytes that are to be sent later, in their order.
private final class DelayedBytes: Sendable {
    private let arrived = DispatchSemaphore(value: 0)
    private let queue = Mutex<[([UInt8], UInt64)?]>([])

    /// - parameter bytes: nil at the end.
    func append(_ bytes: [UInt8]?, at time: UInt64) {
        queue.withLock { $0.append(bytes.map { ($0, time) }) }
        arrived.signal()
    }

    /// Waits for the next bytes, and the time to send them at; nil at the end.
    func next() -> ([UInt8], UInt64)? {
        arrived.wait()
        return queue.withLock { $0.removeFirst() }
    }
}
