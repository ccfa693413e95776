import Foundation

/// A small file system in memory, for one folder. The end of this object unmounts it.
package final class SmallDisk {
    package let path: String
    private var isMounted = false
    private var ballast: String { path + "/ballast" }

    /// The reason for which this process can't mount file systems; nil if it can.
    package static let obstacle: String? = {
        do {
            let folder = try NodeFolder()
            _ = try SmallDisk(at: folder.path + "/disk", megabytes: 1)
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// Makes the folder.
    package init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Command.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)M", "tmpfs", path)
        isMounted = true
    }

    /// Lets a file take all space that is free.
    package func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("open") }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(file, page, page.count) > 0 {}
        guard errno == ENOSPC else { throw failure("write") }
    }

    /// Deletes that file.
    package func empty() throws {
        guard unlink(ballast) == 0 else { throw failure("delete") }
    }

    private func failure(_ action: String) -> NodeProcess.Failure {
        NodeProcess.Failure(description: "can't \(action) \(ballast): \(String(cString: strerror(errno)))")
    }

    /// Unmounts it, once.
    package func unmount() {
        guard isMounted else { return }
        isMounted = false
        _ = try? Command.run("umount", "--lazy", path)
    }

    deinit { unmount() }
}

@available(*, unavailable) extension SmallDisk: Sendable {}
