import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension Socket {
    /// Connects to the addresses of a node in turn.
    ///
    /// An address that doesn't answer leaves the others their share of the time. The resolver of the C library can't
    /// be interrupted: while it waits for a name server, the deadline may pass, and the waker has no effect. Numeric
    /// addresses need no name server.
    static func connected(
        to address: NodeAddress, until deadline: UInt64, waker: Waker
    ) throws(LinkError) -> Socket {
        let list = try resolve(address)
        defer { freeaddrinfo(list) }
        var remainingCount: UInt64 = 0
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let info = next {
            remainingCount += 1
            next = info.pointee.ai_next
        }
        var lastError = LinkError.notResolved(address, reason: "it has no address")
        next = list
        while let info = next {
            next = info.pointee.ai_next
            let now = waker.clock.now
            guard deadline > now else { throw .timedOut(address, .connecting) }
            do {
                return try connected(
                    to: info.pointee, of: address, until: now + (deadline - now) / remainingCount, waker: waker)
            } catch {
                if case .interrupted = error { throw error }
                lastError = error
                remainingCount -= 1
            }
        }
        throw lastError
    }

    /// The addresses of a node, to be released by `freeaddrinfo`.
    private static func resolve(_ address: NodeAddress) throws(LinkError) -> UnsafeMutablePointer<addrinfo> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_flags = AI_NUMERICSERV
        #if canImport(Glibc)
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, String(address.port), &hints, &list)
        if code == 0, let list { return list }
        let reason = code == EAI_SYSTEM ? LinkError.text(of: errno) : gai_strerror(code).map { String(cString: $0) }
        throw .notResolved(address, reason: reason ?? "error \(code)")
    }

    private static func connected(
        to info: addrinfo, of address: NodeAddress, until deadline: UInt64, waker: Waker
    ) throws(LinkError) -> Socket {
        guard let socket = Socket(family: info.ai_family) else { throw LinkError(errno: errno, address, .connecting) }
        var code = socket.beginConnecting(to: info.ai_addr, size: info.ai_addrlen)
        // An interrupted attempt goes on: <https://man7.org/linux/man-pages/man2/connect.2.html>.
        if code == EINPROGRESS || code == EINTR {
            switch waker.wait(for: socket.descriptor, toWrite: true, until: deadline) {
            case .ready: code = socket.connectionError()
            case .woken: throw .interrupted
            case .timedOut: throw .timedOut(address, .connecting)
            case .failed(let errno): throw .systemFailure(address, reason: LinkError.text(of: errno))
            }
        }
        guard code == 0 else { throw LinkError(errno: code, address, .connecting) }
        return socket
    }
}
