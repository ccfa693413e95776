import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends the waits of one session, from any thread.
///
/// A session owns its waker and lends it to each of its links. From `wake()` to `clear()`, each wait ends at once.
///
/// A pair of sockets, because Swift's Glibc has no `eventfd`, and programs that other threads start
/// would inherit a pipe's descriptors, for a moment.
final class Waker: Sendable {
    private let reader: Socket
    private let writer: Socket

    /// The clock of the deadlines.
    let clock: MonotonicClock

    /// A waker that isn't woken.
    init(_ clock: MonotonicClock = .system) throws(LinkError) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, Socket.streamType, 0, &ends) == 0 else {
            throw .systemFailure(nil, reason: LinkError.text(of: errno))
        }
        reader = Socket(takingOver: ends[0])
        writer = Socket(takingOver: ends[1])
        self.clock = clock
    }

    /// Ends the current wait, and each later one until `clear()`. One system call, which never blocks.
    func wake() {
        // A full socket wakes as well.
        _ = withUnsafeBytes(of: UInt8(1)) { writer.write($0) }
    }

    /// Lets waits wait again.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while case .bytes = reader.read(into: buffer) {}
        }
    }

    /// The end of a wait.
    enum Outcome: Equatable {
        /// The socket can be used, or has failed: using it tells.
        case ready(canRead: Bool, canWrite: Bool)
        case woken
        case timedOut
        case failed(errno: CInt)
    }

    /// Waits until a descriptor is ready.
    ///
    /// A descriptor that is ready after the deadline doesn't count: a node that sends byte after byte can't delay it.
    ///
    /// - parameter descriptor: -1 for a wait for the deadline alone.
    /// - parameter deadline: in nanoseconds of `clock`.
    func wait(for descriptor: CInt = -1, toRead: Bool = false, toWrite: Bool = false, until deadline: UInt64) -> Outcome
    {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { waits in
            let events = (toRead ? CInt(POLLIN) : 0) | (toWrite ? CInt(POLLOUT) : 0)
            waits.initializeElement(at: 0, to: pollfd(fd: reader.descriptor, events: Int16(POLLIN), revents: 0))
            waits.initializeElement(at: 1, to: pollfd(fd: descriptor, events: Int16(events), revents: 0))
            // A clock that a test moves is looked at each millisecond.
            let longest: UInt64 = clock.time == nil ? 3_600_000 : 1
            while true {
                let now = clock.now
                let remaining = deadline > now ? deadline - now : 0
                // Rounded up, so that the deadline has passed when the time has.
                let milliseconds = CInt(min(remaining / 1_000_000 + (remaining % 1_000_000 > 0 ? 1 : 0), longest))
                let count = poll(waits.baseAddress!, 2, milliseconds)
                if count < 0 {
                    if errno == EINTR { continue }
                    return .failed(errno: errno)
                }
                if waits[0].revents != 0 { return .woken }
                if remaining == 0 { return .timedOut }
                let found = CInt(waits[1].revents)
                if found == 0 { continue }
                let hasFailed = found & CInt(POLLERR | POLLHUP | POLLNVAL) != 0
                return .ready(
                    canRead: toRead && (hasFailed || found & CInt(POLLIN) != 0),
                    canWrite: toWrite && (hasFailed || found & CInt(POLLOUT) != 0))
            }
        }
    }
}
