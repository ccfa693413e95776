internal import Glibc
public import QuarryClusterTLS

/// Connects without TLS: for networks in which every host is trusted.
public final class SocketConnector: Connector {
    /// A connector.
    public init() {}

    public func connect(to address: NodeAddress, milliseconds: Int) throws -> Int32 {
        try Sockets.connect(to: address, milliseconds: milliseconds)
    }
}

/// Connects with TLS.
extension TLSConnector: Connector {
    /// A connected socket, as of every connector.
    public func connect(to address: NodeAddress, milliseconds: Int) throws -> Int32 {
        do {
            return try connect(to: address.host, port: address.port, milliseconds: milliseconds)
        } catch {
            throw NodeError("\(error)")
        }
    }
}

/// Functions of sockets.
enum Sockets {
    static func connect(to address: NodeAddress, milliseconds: Int) throws -> Int32 {
        var hints = addrinfo()
        hints.ai_family = AF_INET
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, String(address.port), &hints, &list)
        defer { freeaddrinfo(list) }
        guard code == 0, let info = list?.pointee else {
            throw NodeError("\(address) isn't found: \(String(cString: gai_strerror(code)))")
        }
        let descriptor = socket(info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("connect to \(address)") }
        do {
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) != 0 {
                guard errno == EINPROGRESS else { throw failure("connect to \(address)") }
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard poll(&wait, 1, Int32(milliseconds)) == 1 else {
                    throw NodeError("\(address) doesn't answer within \(milliseconds) ms.")
                }
                var result: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &result, &size)
                if result != 0 {
                    errno = result
                    throw failure("connect to \(address)")
                }
            }
            _ = fcntl(descriptor, F_SETFL, flags)
            var one: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    static func failure(_ action: String) -> NodeError {
        NodeError("Can't \(action): \(String(cString: strerror(errno)))")
    }

    /// Connects to an abstract socket of this process; its name begins with "@".
    static func connect(abstract name: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("connect to the node") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8.dropFirst())
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in bytes.prefix(path.count - 1).enumerated() { path[index + 1] = byte }
        }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + bytes.count)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard code == 0 else {
            defer { close(descriptor) }
            throw failure("connect to the node")
        }
        return descriptor
    }
}
