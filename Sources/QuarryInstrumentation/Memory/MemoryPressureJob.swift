#if Instrumentation || AllButTLS
public import Logging
internal import Quarry

extension DatabaseService.Job {
    /// Gives the idle connections and pages of all databases of the process back when memory runs short, on Linux.
    ///
    /// ```swift
    /// let database = DatabaseService(dbPool, jobs: [.memoryPressure(logger: logger)], logger: logger)
    /// ```
    /// ```swift
    /// .memoryPressure(try MemoryPressureMonitor(path: "/proc/pressure/memory", releasing: .pages))
    /// ```
    ///
    /// One service with it is enough for the process. Without a file that tells about pressure, the job logs that and
    /// ends; the service goes on. Each release is logged with what was given back.
    ///
    /// - parameter monitor: the monitor, which is made when the service starts.
    /// - parameter failurePolicy: the consequence of an error, such as that of a file that is gone.
    /// - parameter logger: receives the releases.
    public static func memoryPressure(
        _ monitor: @autoclosure @escaping @Sendable () throws -> MemoryPressureMonitor = try MemoryPressureMonitor(),
        onFailure failurePolicy: FailurePolicy = .log, logger: Logger = Logger(label: "quarry")
    ) -> DatabaseService.Job {
        DatabaseService.Job("memory pressure", onFailure: failurePolicy) {
            let watching: MemoryPressureMonitor
            do {
                watching = try monitor()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
                return logger.notice("Memory pressure is not watched", error: error)
            }
            logger.info(
                "Memory pressure is watched",
                metadata: ["quarry.memory.path": "\(watching.path)", "quarry.memory.signal": "\(watching.signal)"])
            try await watching.run { released in
                logger.info(
                    "Memory given back",
                    metadata: [
                        "quarry.memory.path": "\(watching.path)",
                        "quarry.memory.closed_connections": .stringConvertible(released.closedConnections),
                        "quarry.memory.emptied_connections": .stringConvertible(released.emptiedConnections),
                    ])
            }
        }
    }
}
#endif
