import Dispatch
import Foundation

/// A client that sends a request, and doesn't read the answer.
final class SilentClient: Sendable {
    private let descriptor: Int32

    init(port: Int, uri: String) async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A small window, so that the server soon has to wait.
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.descriptor = descriptor
        let request = "GET \(uri) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        _ = request.withCString { send(descriptor, $0, strlen($0), 0) }
    }

    deinit { close(descriptor) }

    /// Reads until the server has closed the connection.
    func readToEnd() async {
        let descriptor = descriptor
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue(label: "test.socket").async {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
                continuation.resume()
            }
        }
    }
}
