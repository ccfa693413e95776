import Foundation

/// Sockets of 127.0.0.1, as descriptors that their user closes.
enum LoopbackSocket {
    static func connected(to port: UInt16) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard withName(of: port, { connect(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            close(descriptor)
            throw BenchFailure("Port \(port) can't be connected to: error \(reason).")
        }
        prepare(descriptor)
        return descriptor
    }

    /// A listening socket, and its port.
    static func listening() throws -> (descriptor: CInt, port: UInt16) {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let port = withName(of: 0) { name, size -> UInt16? in
            var size = size
            guard bind(descriptor, name, size) == 0, listen(descriptor, 16) == 0,
                getsockname(descriptor, name, &size) == 0
            else { return nil }
            return name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
        }
        guard let port else { throw BenchFailure("No port of this machine is free.") }
        return (descriptor, port)
    }

    /// Sends small writes at once.
    static func prepare(_ descriptor: CInt) { set(TCP_NODELAY, descriptor) }

    /// Acknowledges the received bytes at once.
    static func acknowledge(_ descriptor: CInt) { set(TCP_QUICKACK, descriptor) }

    private static func set(_ option: CInt, _ descriptor: CInt) {
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), option, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func withName<T>(of port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
