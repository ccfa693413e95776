#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A connected socket, or one to connect, whose calls never block.
struct Socket: ~Copyable {
    /// -1 once it is closed.
    private(set) var descriptor: CInt

    /// A stream of bytes, and the flags that the system sets as it makes a descriptor.
    static var streamType: CInt {
        #if canImport(Darwin)
        SOCK_STREAM
        #elseif canImport(Musl)
        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
        #else
        CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        #endif
    }

    /// The result of sending or receiving.
    enum Transfer: Equatable {
        case bytes(Int)
        /// Nothing can be transferred now.
        case mustWait
        /// The peer sends nothing more.
        case end
        case failed(errno: CInt)
    }

    /// The corresponding C function is `socket`.
    ///
    /// - returns: nil if it fails, with the reason in `errno`.
    init?(family: CInt) {
        descriptor = socket(family, Socket.streamType, 0)
        guard descriptor >= 0 else { return nil }
        prepare()
    }

    /// A connected socket that other code made. It belongs to this value from now on.
    init(takingOver descriptor: CInt) {
        self.descriptor = descriptor
        Socket.prepare(descriptor)
        prepare()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The corresponding C function is `close`. Closing twice has no effect.
    mutating func end() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// The corresponding C function is `connect`.
    ///
    /// - returns: 0, EINPROGRESS, or another `errno`.
    borrowing func beginConnecting(to address: UnsafePointer<sockaddr>, size: socklen_t) -> CInt {
        connect(descriptor, address, size) == 0 ? 0 : errno
    }

    /// The `errno` of the attempt to connect that has ended; 0 if it succeeded.
    borrowing func connectionError() -> CInt {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    /// Sends some of the bytes. The corresponding C function is `send`.
    borrowing func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            #if canImport(Darwin)
            let count = send(descriptor, bytes.baseAddress, bytes.count, 0)
            #else
            // Without the flag, a closed connection ends the process by SIGPIPE.
            let count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            #endif
            if count >= 0 { return .bytes(count) }
            if errno != EINTR { return Socket.failure(errno) }
        }
    }

    /// Receives bytes that have arrived. The corresponding C function is `recv`.
    borrowing func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno != EINTR { return Socket.failure(errno) }
        }
    }

    /// Acknowledges the received bytes now, which the system delays for up to 40 ms, in case data goes the other way.
    ///
    /// A node leaves Nagle's algorithm on: its second small response waits until the first is acknowledged. The system
    /// forgets the option after a while: <https://man7.org/linux/man-pages/man7/tcp.7.html>, TCP_QUICKACK.
    borrowing func acknowledge() {
        #if os(Linux)
        Socket.set(TCP_QUICKACK, of: CInt(IPPROTO_TCP), descriptor)
        #endif
    }

    private static func failure(_ code: CInt) -> Transfer {
        code == EAGAIN || code == EWOULDBLOCK ? .mustWait : .failed(errno: code)
    }

    /// Sets the options of the connection.
    private borrowing func prepare() {
        #if canImport(Darwin)
        Socket.prepare(descriptor)
        Socket.set(SO_NOSIGPIPE, of: SOL_SOCKET, descriptor)
        #endif
        // A request is one write, which has nothing to gain from waiting for another. Sockets other than TCP's have no
        // such option, and need none.
        Socket.set(TCP_NODELAY, of: CInt(IPPROTO_TCP), descriptor)
    }

    private static func set(_ option: CInt, of level: CInt, _ descriptor: CInt) {
        var one: CInt = 1
        _ = setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Makes the calls of a descriptor never block, and closes it in programs that this process starts.
    static func prepare(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
}
