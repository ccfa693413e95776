import Foundation
import Quarry
import QuarryRecovery

/// Salvages a file into new ones, whose names are numbers, until it is killed. Says `begin` and the number, the phases
/// of the progress, and `end`, the number, and how many rows were saved.
func salvageForever(path: String, folder: String, first: Int) throws {
    var number = first
    while true {
        say("begin \(number)")
        let report = try DatabaseSalvage(path: path).salvage(into: "\(folder)/\(number)") { progress in
            say("\(progress.phase)")
        }
        say("end \(number) \(report.savedRowCount)")
        number += 1
    }
}

/// Salvages a file, and says its cost and its result, or the error.
///
/// ```
/// 1520 pages read, 14680064 bytes, 85 milliseconds of a processor, 12 rows, 3 lost
/// ```
func salvageOnce(path: String, target: String) throws {
    // The memory of the process before it begins.
    _ = try DatabaseQueue().read { db in try Int.fetchOne(db, sql: "SELECT 1") }
    let before = try maximumMemory()
    var pages = 0
    var end: String
    do {
        let report = try DatabaseSalvage(path: path).salvage(into: target) { progress in pages = progress.readPageCount
        }
        end = "\(report.savedRowCount) rows, \(report.lostAndFoundRowCount) lost"
    } catch let error as DatabaseError {
        end = "error \(error.resultCode.rawValue)"
    }
    let memory = try maximumMemory() - before
    say("\(pages) pages read, \(memory) bytes, \(processorMilliseconds()) milliseconds of a processor, \(end)")
}

/// How long the process has had a processor.
private func processorMilliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000 + Int(time.tv_nsec) / 1_000_000
}

/// The most memory that the process has had at a time, in bytes: <https://man7.org/linux/man-pages/man5/proc.5.html>.
private func maximumMemory() throws -> Int {
    #if os(Linux)
    // `getrusage` counts the process that has started this one, too.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    guard let kilobytes = Int(line.filter(\.isNumber)) else { throw Wrong("no VmHWM: \(status)") }
    return kilobytes * 1024
    #else
    var use = rusage()
    guard getrusage(RUSAGE_SELF, &use) == 0 else { throw Wrong("getrusage: \(errno)") }
    return use.ru_maxrss
    #endif
}
