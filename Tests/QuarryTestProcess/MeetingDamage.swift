import Dispatch
import Quarry
import QuarryRecovery

/// Reads a damaged file, whose policy restores a backup. Says each event, and `wrote` once it has added a row with its
/// name to the restored database, which another process may have restored.
func meetDamage(path: String, kind: DatabaseKind, backup: String, name: String) throws {
    let isHandled = DispatchSemaphore(value: 0)
    var configuration = Configuration()
    configuration.corruptionPolicy = .handle { _ in .restore(fromPath: backup) }
    configuration.onCorruption { event in
        switch event {
        case .confirmed: say("confirmed")
        case .quarantined: say("quarantined")
        case .falseAlarm:
            say("false alarm")
            isHandled.signal()
        case .repaired:
            say("repaired")
            isHandled.signal()
        case .restored:
            say("restored")
            isHandled.signal()
        case .failed(_, let error): fail("\(name): \(error)")
        }
    }
    let writer = try kind.open(path, configuration)
    say("opened")
    waitForStart()
    do {
        _ = try writer.read { db in try Int.fetchOne(db, sql: "SELECT sum(length(b)) FROM t NOT INDEXED") }
        say("intact")
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        isHandled.wait()
    }
    try writer.write { db in try db.execute(sql: "INSERT INTO names VALUES (?)", arguments: [name]) }
    say("wrote")
    try writer.close()
}
