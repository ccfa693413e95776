import BenchSupport
import Dispatch
import Foundation
import Synchronization

/// One point of a plot whose memory matters: measured in a process of its own, where nothing was before it.
struct Measurement {
    enum Kind: String {
        case tasks
        case statements
    }

    let kind: Kind
    let variant: String
    let count: Int

    init(_ kind: Kind, _ variant: String, _ count: Int) {
        self.kind = kind
        self.variant = variant
        self.count = count
    }

    /// From `kind:variant:count`.
    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 3, let kind = Kind(rawValue: String(parts[0])), let count = Int(parts[2]) else {
            return nil
        }
        self.init(kind, String(parts[1]), count)
    }

    /// Measures in this process.
    func run(scale: Double) throws -> [String: Double] {
        switch kind {
        case .tasks: try TaskScaling.measure(variant, tasks: count, scale: scale)
        case .statements: try StatementScaling.measure(variant, statements: count, scale: scale)
        }
    }

    /// Measures in a new process.
    func runInProcess(scale: Double) throws -> [String: Double] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--measure", "\(kind.rawValue):\(variant):\(count)", "--scale", "\(scale)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let json = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError.noResult }
        return try JSONDecoder().decode([String: Double].self, from: json)
    }
}

/// Runs asynchronous code from a thread that may wait.
func waitFor<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
    let outcome = Mutex<Result<T, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    guard let result = outcome.withLock({ $0 }) else { throw BenchError.noResult }
    return try result.get()
}

/// The time that `body` takes, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(body)
    return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        return isEmpty ? .nan : sorted[count / 2]
    }
}
