#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A call of the system that failed.
public struct SystemError: Error, CustomStringConvertible {
    /// The function and the meaning of its error.
    public let description: String

    init(_ function: StaticString) { description = "\(function): \(String(cString: strerror(errno)))" }
}

/// A socket of TCP on 127.0.0.1. One thread uses and closes it; any thread may shut it down.
final class Socket: Sendable {
    /// -1 once it is closed: a number must not be shut down when the system has reused it.
    private let descriptor: Monitor<Int32>
    private let number: Int32

    /// Owns an open descriptor.
    init(owning descriptor: Int32) {
        number = descriptor
        self.descriptor = Monitor(descriptor)
        // Child processes of tests must not keep connections open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setOption(protocolTCP, TCP_NODELAY, 1)
        #if canImport(Darwin)
        setOption(SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    convenience init() throws(SystemError) {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw SystemError("socket") }
        self.init(owning: descriptor)
    }

    deinit { close() }

    /// Ends both directions at once: the peer and a thread that waits for bytes see the end of the stream.
    func shutDown() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func close() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            // Acts even if a child process has inherited the descriptor.
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            closeDescriptor(descriptor)
            descriptor = -1
        }
    }

    /// Binds a port; 0 chooses a free one.
    func bind(port: UInt16) throws(SystemError) {
        setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        guard withLoopback(port, { bindDescriptor(number, $0, $1) }) == 0 else { throw SystemError("bind") }
    }

    func listen() throws(SystemError) {
        guard listenDescriptor(number, 128) == 0 else { throw SystemError("listen") }
        // A connection that vanishes between `poll` and `accept` must not block the thread.
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
    }

    func connect(port: UInt16) throws(SystemError) {
        guard withLoopback(port, { connectDescriptor(number, $0, $1) }) == 0 else { throw SystemError("connect") }
    }

    /// The port it is bound to.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(number, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next connection of a listening socket, or `nil` once `waker` has a byte or no writer.
    func accept(until waker: Int32) -> Socket? {
        while true {
            var events = [
                pollfd(fd: number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&events, 2, -1) < 0, errno != EINTR { return nil }
            if events[1].revents != 0 { return nil }
            let accepted = acceptDescriptor(number, nil, nil)
            if accepted >= 0 {
                // Darwin passes O_NONBLOCK on.
                _ = fcntl(accepted, F_SETFL, 0)
                return Socket(owning: accepted)
            }
        }
    }

    /// Sends all bytes.
    ///
    /// - returns: `false` if the connection has ended.
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = sendBytes(number, buffer.baseAddress! + sent, buffer.count - sent)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }

    /// The bytes that have arrived; waits for the first one.
    ///
    /// - returns: `nil` if the connection has ended, or if a set timeout has passed.
    func receive(atMost size: Int = 16_384) -> [UInt8]? { receive(size, flags: 0) }

    /// The bytes that have arrived, or `nil`.
    func receiveNow() -> [UInt8]? { receive(16_384, flags: Int32(MSG_DONTWAIT.number)) }

    private func receive(_ size: Int, flags: Int32) -> [UInt8]? {
        var count = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            repeat {
                count = recv(number, buffer.baseAddress, size, flags)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        return count > 0 ? bytes : nil
    }

    /// Limits the time that `receive()` waits.
    func setReceiveTimeout(seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    private func setOption(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(number, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// `IPPROTO_TCP`, which the modules of C libraries import as different types.
private let protocolTCP: Int32 = 6

extension FixedWidthInteger {
    /// `MSG_DONTWAIT` is an enumeration's case with Glibc, and an integer elsewhere.
    fileprivate var number: Int { Int(self) }
}

#if canImport(Glibc)
extension RawRepresentable where RawValue: FixedWidthInteger {
    fileprivate var number: Int { Int(rawValue) }
}
#endif

// `Socket` has methods with the names of these functions.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

private func listenDescriptor(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

private func bindDescriptor(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    bind(descriptor, address, size)
}

private func connectDescriptor(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    connect(descriptor, address, size)
}

private func acceptDescriptor(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ size: UnsafeMutablePointer<socklen_t>?
) -> Int32 {
    accept(descriptor, address, size)
}

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    send(descriptor, bytes, count, Int32(MSG_NOSIGNAL.number))
    #endif
}

private func withLoopback<Result>(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
