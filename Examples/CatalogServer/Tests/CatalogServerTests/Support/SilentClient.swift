import Dispatch
import Foundation

/// A client that sends any bytes, and reads the answer when it is told to.
final class SilentClient: Sendable {
    private let descriptor: Int32

    convenience init(port: Int, uri: String) async throws {
        try await self.init(port: port, request: "GET \(uri) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    init(port: Int, request: String) async throws {
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
        _ = request.withCString { send(descriptor, $0, strlen($0), 0) }
    }

    deinit { close(descriptor) }

    /// Reads until the answer has a text, and returns what came; at the end of the connection without it.
    func read(until end: String) async -> String {
        let descriptor = descriptor
        return await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            DispatchQueue(label: "test.socket").async {
                var text = ""
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while !text.contains(end) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    text += String(decoding: buffer[..<count], as: UTF8.self)
                }
                continuation.resume(returning: text)
            }
        }
    }

    /// Sends more of the request.
    func sendMore(_ text: String) { _ = text.withCString { send(descriptor, $0, strlen($0), 0) } }

    /// Sends no more.
    func endRequest() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads until the server has closed the connection, and returns the number of bytes.
    @discardableResult
    func readToEnd() async -> Int {
        let descriptor = descriptor
        return await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            DispatchQueue(label: "test.socket").async {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                var total = 0
                while true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    total += count
                }
                continuation.resume(returning: total)
            }
        }
    }
}
