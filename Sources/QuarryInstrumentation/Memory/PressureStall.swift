#if Instrumentation || AllButTLS
internal import Quarry

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file of the kernel's pressure stall information: <https://docs.kernel.org/accounting/psi.html>.
///
/// ```
/// some avg10=0.00 avg60=0.00 avg300=0.00 total=1234
/// full avg10=0.00 avg60=0.00 avg300=0.00 total=567
/// ```
enum PressureStall {
    /// The time in which some task waited for memory, since the machine or the group has started.
    ///
    /// - returns: nil if the text isn't that of such a file.
    static func total(_ text: String) -> Duration? {
        for line in text.split(separator: "\n") where line.hasPrefix("some ") {
            for word in line.split(separator: " ") where word.hasPrefix("total=") {
                return Int64(word.dropFirst(6)).map { .microseconds($0) }
            }
        }
        return nil
    }

    /// The text of a file; nil if it can't be read. The kernel's files have no size.
    static func text(ofFile path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}

/// Asks the kernel to report when tasks have waited for longer than a threshold.
///
/// Unlike the counts of a file, which have to be read again and again, a trigger costs nothing until it fires.
final class PressureTrigger: Sendable {
    /// The time after which the kernel forgets a wait. A process without privileges may only choose a multiple of two
    /// seconds, and the kernel reports at most once in that time:
    /// <https://docs.kernel.org/accounting/psi.html#monitoring-for-pressure-thresholds>.
    static let window = Duration.seconds(2)

    /// The reason for the end of a wait.
    enum Event {
        case pressure
        case wokenUp
        /// The control group was deleted.
        case gone
    }

    private let descriptor: CInt

    /// - returns: nil if the file doesn't exist, may not be written, or isn't a file of stall information.
    init?(path: String, stall: Duration) {
        // A plain file would take the text as its content.
        guard Self.isOfTheKernel(path) else { return nil }
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let request = "some \(stall.microseconds) \(Self.window.microseconds)"
        // The kernel overwrites the last byte, so the NUL is written too.
        guard request.withCString({ write(descriptor, $0, request.utf8.count + 1) }) == request.utf8.count + 1 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether a file is in `/proc` or in the control groups, whatever links lead to it.
    private static func isOfTheKernel(_ path: String) -> Bool {
        guard let resolved = realpath(path, nil) else { return false }
        defer { free(resolved) }
        let file = String(cString: resolved)
        return file.hasPrefix("/proc/") || file.hasPrefix("/sys/fs/cgroup/")
    }

    /// Whether the threshold was exceeded since the last look.
    ///
    /// - returns: nil if the control group was deleted.
    func wasExceeded() -> Bool? {
        switch look(milliseconds: 0, nil) {
        case .pressure: true
        case .wokenUp: false
        case .gone: nil
        }
    }

    /// Waits on this thread until the threshold is exceeded.
    func wait(or wakeUp: WakeUp) -> Event { look(milliseconds: -1, wakeUp) }

    private func look(milliseconds: CInt, _ wakeUp: WakeUp?) -> Event {
        var waits = [pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)]
        if let wakeUp { waits.append(pollfd(fd: wakeUp.readEnd, events: Int16(POLLIN), revents: 0)) }
        while true {
            let count = poll(&waits, nfds_t(waits.count), milliseconds)
            if count < 0, errno == EINTR { continue }
            if waits.count > 1, waits[1].revents != 0 { return .wokenUp }
            // Of a deleted group, the kernel reports an error and an event.
            if count < 0 || waits[0].revents & Int16(POLLERR) != 0 { return .gone }
            return waits[0].revents & Int16(POLLPRI) != 0 ? .pressure : .wokenUp
        }
    }

    /// Ends a wait from another thread.
    final class WakeUp: Sendable {
        fileprivate let readEnd: CInt
        private let writeEnd: CInt

        /// - throws: `SQLITE_CANTOPEN` if the process has no file descriptor left.
        init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN,
                    message: "no pipe for a MemoryPressureMonitor: \(String(cString: strerror(errno)))")
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (readEnd, writeEnd) = (ends[0], ends[1])
        }

        deinit {
            close(readEnd)
            close(writeEnd)
        }

        /// The wait ends, and so does each later one.
        func send() {
            var byte: UInt8 = 0
            while write(writeEnd, &byte, 1) < 0, errno == EINTR {}
        }
    }
}

extension Duration {
    /// The number of whole microseconds.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
#endif
