import Dispatch
import Foundation

/// Where stanzas come from, block by block.
protocol ControlFileSource: Sendable {
    var name: String { get }
    /// Nil where nobody knows: a pipe.
    var byteCount: Int? { get }
    /// The next block, or nil at the end.
    func nextBlock() async throws -> [UInt8]?
}

/// An open control file: a regular file, a named pipe, or standard input as `-`.
///
/// Reads happen on a queue of its own, so that no cooperative thread waits for a disk or for the other end of a pipe. A
/// cancelled task stops waiting at once.
final class ControlFile: ControlFileSource {
    let name: String
    let byteCount: Int?
    private let descriptor: Int32
    private let wakeUp: (reader: Int32, writer: Int32)
    private let queue = DispatchQueue(label: "catalog.read")
    private static let blockSize = 1 << 16

    /// - throws: `CatalogError.unreadableInput`.
    init(_ path: String) throws {
        // O_NONBLOCK: else opening a named pipe waits for the program that writes into it.
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path) }
        var status = stat()
        var ends: [Int32] = [-1, -1]
        guard fstat(descriptor, &status) == 0, pipe(&ends) == 0 else {
            let code = errno
            _ = Foundation.close(descriptor)
            throw Self.unreadable(path, code: code)
        }
        name = path
        byteCount = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        self.descriptor = descriptor
        wakeUp = (ends[0], ends[1])
        if status.st_mode & S_IFMT == S_IFDIR { throw Self.unreadable(path, code: EISDIR) }
    }

    deinit {
        for open in [descriptor, wakeUp.reader, wakeUp.writer] { _ = Foundation.close(open) }
    }

    /// - throws: `CatalogError.unreadableInput`; `CancellationError` if the task is cancelled, after which nothing more
    ///   can be read.
    func nextBlock() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try self.readBlock() }) }
            }
        } onCancel: {
            _ = write(wakeUp.writer, [0], 1)
        }
    }

    private func readBlock() throws -> [UInt8]? {
        while true {
            var waited = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp.reader, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waited, 2, -1) >= 0 else {
                // A signal may come to this thread: nothing is known to be readable then.
                guard errno == EINTR else { throw Self.unreadable(name) }
                continue
            }
            if waited[1].revents != 0 { throw CancellationError() }
            var failure: Int32 = 0
            let block = [UInt8](unsafeUninitializedCapacity: Self.blockSize) { buffer, count in
                let size = read(descriptor, buffer.baseAddress, buffer.count)
                if size < 0 { failure = errno }
                count = max(size, 0)
            }
            if failure == 0 { return block.isEmpty ? nil : block }
            guard failure == EINTR || failure == EAGAIN else { throw Self.unreadable(name, code: failure) }
        }
    }

    private static func unreadable(_ path: String, code: Int32 = errno) -> CatalogError {
        .unreadableInput(path: path, reason: String(cString: strerror(code)))
    }
}
