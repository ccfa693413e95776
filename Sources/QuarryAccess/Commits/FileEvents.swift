#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The system's calls that tell of changes of files: <https://man7.org/linux/man-pages/man7/inotify.7.html>. Other
/// systems than Linux need an open file for that, so none is watched there.
enum FileEvents {
    /// A change of a watched file.
    struct Change: Equatable {
        /// The number of the watch; -1 if events were lost.
        let watch: CInt
        /// Whether the watch has ended, because the file was deleted.
        let isGone: Bool
    }

    /// A descriptor of events; -1 if the system has none left.
    static func open() -> CInt {
        #if os(Linux)
        inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        #else
        -1
        #endif
    }

    /// Watches a file. Watching it again returns the same number.
    ///
    /// - returns: the number of the watch; nil if there is no such file, no right to read it, or no watch left.
    static func addWatch(_ events: CInt, _ path: String) -> CInt? {
        #if os(Linux)
        let watch = inotify_add_watch(events, path, UInt32(IN_MODIFY))
        return watch >= 0 ? watch : nil
        #else
        return nil
        #endif
    }

    static func removeWatch(_ events: CInt, _ watch: CInt) {
        #if os(Linux)
        _ = inotify_rm_watch(events, watch)
        #endif
    }

    /// Reads the events that have come.
    ///
    /// - parameter changes: receives an element for each changed file.
    static func read(_ events: CInt, _ buffer: inout [UInt8], _ changes: inout [Change]) {
        #if os(Linux)
        while true {
            let count = readBytes(events, &buffer)
            guard count > 0 else { return }
            var start = 0
            buffer.withUnsafeBytes { bytes in
                while start < count {
                    let event = bytes.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    let change = Change(watch: event.wd, isGone: event.mask & UInt32(IN_IGNORED) != 0)
                    if changes.last != change { changes.append(change) }
                    start += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        #endif
    }

    private static func readBytes(_ descriptor: CInt, _ buffer: inout [UInt8]) -> Int {
        #if canImport(Darwin)
        Darwin.read(descriptor, &buffer, buffer.count)
        #elseif canImport(Musl)
        Musl.read(descriptor, &buffer, buffer.count)
        #else
        Glibc.read(descriptor, &buffer, buffer.count)
        #endif
    }

    /// Sleeps until a descriptor is ready, or a time has passed.
    ///
    /// - parameter nanoseconds: nil for no time.
    static func poll(_ waits: inout [pollfd], for nanoseconds: UInt64?) {
        // Rounded up: a time that hasn't come would be waited for in a loop.
        let milliseconds = nanoseconds.map { CInt(min(($0 + 999_999) / 1_000_000, 3_600_000)) } ?? -1
        #if canImport(Darwin)
        _ = Darwin.poll(&waits, nfds_t(waits.count), milliseconds)
        #elseif canImport(Musl)
        _ = Musl.poll(&waits, nfds_t(waits.count), milliseconds)
        #else
        _ = Glibc.poll(&waits, nfds_t(waits.count), milliseconds)
        #endif
    }
}
