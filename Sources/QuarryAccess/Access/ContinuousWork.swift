/// Work for a database that goes on until its task is cancelled, and tries again after failures, such as scheduled
/// backups.
///
/// ```swift
/// try await backups.run { error, pause in logger.error("\(error), again in \(pause)") }
/// ```
///
/// The `DatabaseService` of QuarryInstrumentation runs it as a job, and logs the failures.
public protocol ContinuousWork: Sendable {
    /// Works until the task is cancelled.
    ///
    /// - parameter onFailure: receives an error after which the work goes on, and the time until the next try.
    /// - throws: `CancellationError`; an error that ends the work.
    func run(onFailure: @escaping @Sendable (_ error: any Error, _ pause: Duration) -> Void) async throws
}
