#if Instrumentation || AllButTLS
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A thread for one job, which may block.
enum OwnThread {
    private final class Job: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs a job on a thread of its own, which ends with it.
    ///
    /// - returns: whether the system has a thread. Otherwise the job doesn't run.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t(bitPattern: 0)
        let job = Unmanaged.passRetained(Job(run))
        let code = pthread_create(
            &thread, nil,
            { context in
                // Optional on Linux only.
                let context: UnsafeMutableRawPointer? = context
                if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, job.toOpaque())
        guard code == 0, let thread = Optional(thread) else {
            job.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
#endif
