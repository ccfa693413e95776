#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The threads of a cluster, which end before it does. They block, so they aren't Swift's.
final class OwnThreads: Sendable {
    private struct Running {
        var count = 0
        var identities: [pthread_t] = []
    }

    private let running = Monitor(Running())

    /// Whether the calling thread is one of these.
    private var includesCaller: Bool {
        running.withLock { running in running.identities.contains { pthread_equal($0, pthread_self()) != 0 } }
    }

    /// Starts a thread. It counts from now on.
    func start(_ body: @escaping @Sendable () -> Void) {
        running.withLock { $0.count += 1 }
        startThread { [running] in
            running.withLock { $0.identities.append(pthread_self()) }
            body()
            running.withLock { running in
                running.identities.removeAll { pthread_equal($0, pthread_self()) != 0 }
                running.count -= 1
            }
        }
    }

    /// Waits until all threads have ended. If one of them is the caller, it doesn't wait: two of them would wait for
    /// each other.
    func waitUntilEnded() {
        if includesCaller { return }
        running.wait { $0.count == 0 }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a detached thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    let code = pthread_create(&thread, nil, { runBody($0) }, argument)
    if let thread { pthread_detach(thread) }
    #else
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { runBody($0!) }, argument)
    if code == 0 { pthread_detach(thread) }
    #endif
    precondition(code == 0, "pthread_create failed with \(code).")
}

private func runBody(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
