import Foundation
import Synchronization

/// Watches the process's threads and memory, from a thread of its own, which doesn't count.
final class ProcessMeter: Sendable {
    struct Reading: Codable {
        var threads = 0.0
        var residentBytes = 0.0
    }

    private let peak = Mutex(Reading())
    private let isStopped = Atomic(false)

    init() {
        let thread = Thread { [self] in
            while !isStopped.load(ordering: .relaxed) {
                note(threadsOfMeter: 1)
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        thread.start()
    }

    /// The highest values so far; they begin anew.
    func takePeak() -> Reading {
        note(threadsOfMeter: 1)
        return peak.withLock { peak in
            defer { peak = Reading() }
            return peak
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    /// The current figures of the process.
    static func reading() -> Reading {
        var reading = Reading()
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard words.count >= 2, let value = Double(words[1]) else { continue }
            switch words[0] {
            case "Threads:": reading.threads = value
            case "VmRSS:": reading.residentBytes = value * 1_024
            default: break
            }
        }
        return reading
    }

    private func note(threadsOfMeter: Double) {
        let now = Self.reading()
        peak.withLock { peak in
            peak.threads = max(peak.threads, now.threads - threadsOfMeter)
            peak.residentBytes = max(peak.residentBytes, now.residentBytes)
        }
    }
}
