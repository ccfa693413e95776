import QuarryCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Tells when files change, and when a time has come. One for the process, with one thread, which is started at its
/// first use.
///
/// It never opens the files: closing a descriptor of a file would release SQLite's locks on it:
/// <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class FileWatcher: Sendable {
    static let shared = FileWatcher()

    /// Is told of changes and times, on the watcher's thread.
    protocol Client: AnyObject, Sendable {
        func filesDidChange(now: UInt64)
        func timeDidCome(now: UInt64)
    }

    /// The files of a database.
    struct Files: Equatable {
        let path: String
        /// The write-ahead log.
        let logPath: String
        /// Whether the log has to exist: a connection that can't write doesn't make it.
        let needsLog: Bool
    }

    /// A client's place, until it is removed.
    struct Registration {
        fileprivate let watcher: FileWatcher
        fileprivate let id: Int

        /// Calls the client's `timeDidCome` at a time. Replaces an earlier call.
        func wait(until time: UInt64) { watcher.wait(id, until: time) }

        /// Watches the files from now on.
        ///
        /// - returns: false if the system can't.
        func watch(_ files: Files) -> Bool { watcher.watch(id, files) }

        /// Whether a file isn't watched: it doesn't exist, or was deleted.
        var isIncomplete: Bool {
            watcher.state.withLock { $0.entries[id].map { $0.main == nil || $0.log == nil } ?? true }
        }

        func remove() { watcher.remove(id) }
    }

    /// A client's place. An object, so that a change of it copies no dictionary. Used with the lock held.
    private final class Entry {
        weak var client: (any Client)?
        var due: UInt64?
        /// The watches of the database and of its log; nil if there is none, or the file was deleted.
        var main: CInt?
        var log: CInt?

        init(_ client: any Client) { self.client = client }

        func has(_ watch: CInt) -> Bool { main == watch || log == watch }
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var lastID = 0
        /// The clients of each watch. Two clients of one file share its watch.
        var clients: [CInt: Set<Int>] = [:]
        var isRunning = false
        /// Reports changes; -1 if the system can't.
        var events: CInt = -1
        /// Wakes the thread.
        var (wakeReader, wakeWriter): (CInt, CInt) = (-1, -1)
        /// The time until which the thread sleeps.
        var sleepsUntil: UInt64 = 0
    }

    private let state = Lock(State())

    /// Nanoseconds between two readings of events. A writer in a loop makes thousands a second.
    private static let pace: UInt64 = 4_000_000

    /// The number of clients.
    var clientCount: Int { state.withLock { $0.entries.count } }

    // MARK: - Clients

    /// Adds a client, which isn't retained.
    func add(_ client: any Client) -> Registration {
        state.withLock { state in
            state.lastID += 1
            state.entries[state.lastID] = Entry(client)
            start(&state)
            return Registration(watcher: self, id: state.lastID)
        }
    }

    private func wait(_ id: Int, until time: UInt64) {
        state.withLock { state in
            state.entries[id]?.due = time
            if time < state.sleepsUntil { wake(&state) }
        }
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: id) else { return }
            for case let watch? in [entry.main, entry.log] { release(watch, of: id, &state) }
        }
    }

    private func watch(_ id: Int, _ files: Files) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[id], state.events >= 0 else { return false }
            // A file that is watched stays so, even if its path leads to another one now: SQLite has it open.
            if entry.main == nil { entry.main = FileEvents.addWatch(state.events, files.path) }
            if entry.log == nil { entry.log = FileEvents.addWatch(state.events, files.logPath) }
            for case let watch? in [entry.main, entry.log] { state.clients[watch, default: []].insert(id) }
            return entry.main != nil && (entry.log != nil || !files.needsLog)
        }
    }

    private func release(_ watch: CInt, of id: Int, _ state: inout State) {
        state.clients[watch]?.remove(id)
        guard state.clients[watch]?.isEmpty ?? false else { return }
        state.clients[watch] = nil
        FileEvents.removeWatch(state.events, watch)
    }

    // MARK: - The thread

    private func start(_ state: inout State) {
        guard !state.isRunning else { return }
        if state.wakeReader < 0 {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { return }
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            (state.wakeReader, state.wakeWriter) = (ends[0], ends[1])
            state.events = FileEvents.open()
        }
        // Only a detached thread can be started: nothing waits for its end.
        var thread = pthread_t(bitPattern: 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        // Without a thread, the next client tries again.
        state.isRunning =
            pthread_create(
                &thread, &attributes,
                { _ in
                    FileWatcher.shared.run()
                    return nil
                }, nil) == 0
    }

    private func wake(_ state: inout State) {
        state.sleepsUntil = 0
        var byte: UInt8 = 0
        // A full pipe wakes the thread already.
        _ = write(state.wakeWriter, &byte, 1)
    }

    /// A writer in a loop makes this thread run some hundred times a second, so it allocates nothing then.
    private func run() {
        let (wakeReader, events) = state.withLock { ($0.wakeReader, $0.events) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var changes: [FileEvents.Change] = []
        var clients: [any Client] = []
        var waits = [wakeReader, events].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var nextReading: UInt64 = 0
        while true {
            let now = SystemClock.monotonicNanoseconds()
            let isResting = now < nextReading
            let end = state.withLock { state in
                var due = isResting ? nextReading : UInt64.max
                for (_, entry) in state.entries { due = min(due, entry.due ?? .max) }
                state.sleepsUntil = due
                return due
            }
            // While it rests, events wait in the kernel, which merges equal ones. A negative descriptor is ignored.
            waits[1].fd = isResting ? -1 : events
            FileEvents.poll(&waits, for: end == .max ? nil : end > now ? end - now : 0)
            if waits[0].revents != 0 { while read(wakeReader, &buffer, buffer.count) > 0 {} }
            if waits[1].revents != 0 {
                FileEvents.read(events, &buffer, &changes)
                takeChanged(changes, &clients)
                changes.removeAll(keepingCapacity: true)
                let now = SystemClock.monotonicNanoseconds()
                for client in clients { client.filesDidChange(now: now) }
                clients.removeAll(keepingCapacity: true)
                nextReading = SystemClock.monotonicNanoseconds() &+ Self.pace
            }
            takeDue(&clients)
            let time = SystemClock.monotonicNanoseconds()
            for client in clients { client.timeDidCome(now: time) }
            clients.removeAll(keepingCapacity: true)
        }
    }

    /// Finds the clients of changed files, each once.
    private func takeChanged(_ changes: [FileEvents.Change], _ clients: inout [any Client]) {
        state.withLock { state in
            for (id, entry) in state.entries {
                // -1 if too many events came: any file may have changed.
                guard changes.contains(where: { $0.watch < 0 || entry.has($0.watch) }) else { continue }
                if let client = entry.client { clients.append(client) }
                for change in changes where change.isGone && entry.has(change.watch) {
                    if entry.main == change.watch { entry.main = nil }
                    if entry.log == change.watch { entry.log = nil }
                    state.clients[change.watch]?.remove(id)
                }
            }
        }
    }

    /// Finds the clients whose time has come.
    private func takeDue(_ clients: inout [any Client]) {
        let now = SystemClock.monotonicNanoseconds()
        state.withLock { state in
            for (_, entry) in state.entries {
                guard let due = entry.due, due <= now else { continue }
                entry.due = nil
                if let client = entry.client { clients.append(client) }
            }
        }
    }
}
