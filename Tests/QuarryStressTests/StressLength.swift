import Foundation
import QuarryCore
import QuarryTestSupport

/// How long stress tests run, and where their random numbers begin.
enum StressLength {
    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Seconds for each test: `QUARRY_STRESS_SECONDS`, or 1.
    static let seconds = variable("QUARRY_STRESS_SECONDS").flatMap(Double.init) ?? 1

    /// The time at which a part of a test ends, in nanoseconds of `SystemClock`.
    static func end(ofPart parts: Double) -> UInt64 {
        SystemClock.monotonicNanoseconds() + UInt64(seconds / parts * 1e9)
    }

    /// The seed of a test: `QUARRY_STRESS_SEED`, or another one each time. It is printed.
    ///
    /// It says what each task and thread does, not in which order the system lets them run.
    static func seed(of test: String) -> UInt64 {
        let seed = variable("QUARRY_STRESS_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        print("\(test): seed \(seed)")
        return seed
    }
}

extension SeededGenerator {
    /// The generator of one of several that begin with one seed.
    init(seed: UInt64, index: Int) { self.init(seed: seed &+ UInt64(index + 1) &* 0xA24B_AED4_963E_E407) }

    /// True once in `count` times.
    mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// Ends the process of an exit test that is stuck, and says where it was.
enum Watchdog {
    /// Begins to watch, for twice the time that the test takes, and two minutes.
    static func start(_ test: String, state: @escaping @Sendable () -> String) {
        let end = Date(timeIntervalSinceNow: 2 * StressLength.seconds + 120)
        let thread = Thread {
            let semaphore = DispatchSemaphore(value: 0)
            _ = semaphore.wait(wallTimeout: .now() + end.timeIntervalSinceNow)
            FileHandle.standardError.write(Data("\(test) is stuck: \(state())\n".utf8))
            abort()
        }
        thread.name = "watchdog"
        thread.start()
    }
}

/// The output of the process of an exit test, and the folder of all its files: the process may end anywhere.
///
/// It prints to a file: the testing library would read a pipe on one of Swift's threads, which stops other tests.
struct ProcessOutput: Sendable {
    private let folder: TemporaryFolder

    /// The path of the file.
    var path: String { folder.file("output") }

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// Called in the process, first.
    static func go(to path: String) {
        TemporaryFolder.allLie(in: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }

    /// Prints what the process has printed.
    func show() throws {
        // The testing library writes marks of its own in between.
        print(String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self))
    }
}
