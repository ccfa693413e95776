import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// Operations of the disk fail in a fixed workload, one in each run, for each kind of fault. The error says what has
/// failed; the database can be used afterwards, is whole when it is opened again, and holds the state before the
/// step that failed or the one after it.
@Suite("A workload on a failing disk", .timeLimit(.minutes(5 * TestTime.factor)), .serialized) struct FaultWorkloadTests
{
    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var operations: FaultVFS.Operations
        var code: ResultCode?
        var andAllAfter: Bool
        /// The codes that errors may have.
        var codes: Set<ResultCode>
        var testDescription: String { name }
    }

    /// An operation of any kind that fails is a failed open, a read or write of half the bytes, a failed sync, as it
    /// comes.
    static let faults = [
        Fault(
            name: "I/O error", operations: .all, andAllAfter: false,
            codes: [.SQLITE_IOERR, .SQLITE_CANTOPEN]),
        Fault(
            name: "I/O errors from then on", operations: .all, andAllAfter: true,
            codes: [.SQLITE_IOERR, .SQLITE_CANTOPEN]),
        Fault(
            name: "disk full from then on", operations: .write, code: .SQLITE_FULL, andAllAfter: true,
            codes: [.SQLITE_FULL]),
        Fault(
            name: "no file opens from then on", operations: .open, andAllAfter: true, codes: [.SQLITE_CANTOPEN]),
        Fault(name: "no sync from then on", operations: .sync, andAllAfter: true, codes: [.SQLITE_IOERR_FSYNC]),
    ]

    @Test(arguments: FaultWorkload.Kind.allCases, faults) func failingOperations(
        kind: FaultWorkload.Kind, fault: Fault
    ) async throws {
        let found = try await onOwnThread(within: 280) {
            var found = Findings()
            let states = try FaultWorkload.states(kind)
            let vfs = try FaultVFS()
            var faulted = FaultedOperations()
            repeat {
                found.wasReached = false
                let run = FaultRun(kind: kind, fault: fault, nth: faulted.nth, states: states, vfs: vfs)
                try run.run(&found)
                if found.wasReached { found.operations += 1 }
                faulted.advance()
            } while found.wasReached
            return found
        }
        #expect(found.problems == [])
        #expect(found.errors > 0 && found.errors <= found.operations)
        let fewest = (fault.operations == .all ? 200 : 4) / FaultedOperations.stride
        #expect(found.operations >= fewest, "\(found.operations)")
    }

    struct Findings: Sendable {
        /// How many operations have failed, one in a run.
        var operations = 0
        /// How many of these runs have thrown.
        var errors = 0
        var problems: [String] = []
        var wasReached = false
    }
}

/// One run: the nth operation fails.
private struct FaultRun {
    let kind: FaultWorkload.Kind
    let fault: FaultWorkloadTests.Fault
    let nth: Int
    let states: [[String]]
    let vfs: FaultVFS

    func run(_ found: inout FaultWorkloadTests.Findings) throws {
        let folder = try TemporaryFolder(isFast: true)
        var workload = FaultWorkload(kind, folder: folder.path, vfs: vfs.name)
        vfs.arm(fault.operations, nth: nth, code: fault.code, andAllAfter: fault.andAllAfter)
        defer { vfs.disarm() }
        var failed: (index: Int, error: any Error)?
        for (index, step) in FaultWorkload.steps.enumerated() {
            do {
                try step.run(&workload)
            } catch {
                failed = (index, error)
                break
            }
        }
        found.wasReached = vfs.failures > 0
        guard let (index, error) = failed else {
            vfs.disarm()
            found.problems += problems(ofFile: workload.path, [states.last!]).map { "\(nth), which was closed: \($0)" }
            return
        }
        found.errors += 1
        let possible = [states[index], states[index + 1]]
        var problems = self.problems(of: error, folder)
        if !found.wasReached { problems.append("no operation has failed") }
        // A disk that still fails gives an error, or what it has.
        if fault.andAllAfter, let state = try? workload.writer?.read(FaultWorkload.state), !possible.contains(state) {
            problems.append("while it fails: \(state)")
        }
        vfs.disarm()
        do {
            problems += try self.problems(ofUsing: &workload, possible)
            try workload.writer?.close()
        } catch {
            problems.append("not usable: \(error)")
        }
        try? workload.copy?.close()
        problems += self.problems(ofFile: workload.path, possible)
        if FileManager.default.fileExists(atPath: workload.copyPath) {
            let backup = FaultWorkload.steps.firstIndex { $0.name == "backup" }!
            problems += self.problems(
                ofFile: workload.copyPath, index == backup ? [[], states[backup]] : [states[backup]]
            )
            .map { "the copy: \($0)" }
        }
        found.problems += problems.map { "operation \(nth), \(FaultWorkload.steps[index].name), \(error): \($0)" }
    }

    /// The error tells the code, and the SQL or the file.
    private func problems(of error: any Error, _ folder: TemporaryFolder) -> [String] {
        guard let error = error as? DatabaseError else { return ["no error of the database"] }
        var problems: [String] = []
        if !fault.codes.contains(where: { $0 ~= error.extendedResultCode }) { problems.append("another code") }
        if error.message?.isEmpty != false { problems.append("no message") }
        if error.sql == nil, !error.description.contains(folder.path) { problems.append("neither SQL nor path") }
        return problems
    }

    /// It reads and writes, and is opened where the opening had failed.
    private func problems(ofUsing workload: inout FaultWorkload, _ possible: [[String]]) throws -> [String] {
        if workload.writer == nil { try workload.open() }
        guard let writer = workload.writer else { return ["not open"] }
        var problems: [String] = []
        let state = try writer.read(FaultWorkload.state)
        if !possible.contains(state) { problems.append("before it is closed: \(state)") }
        try writer.write { db in
            let written = try FaultWorkload.state(db)
            if written != state { problems.append("read \(state), in a write \(written)") }
            try db.execute(sql: "PRAGMA user_version = 7")
        }
        let version = try writer.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        if version != 7 { problems.append("what is written afterwards isn't there") }
        return problems
    }

    /// Opened again, without faults.
    private func problems(ofFile path: String, _ possible: [[String]]) -> [String] {
        do {
            let queue = try DatabaseQueue(path: path)
            let (state, integrity) = try queue.read { db in
                (try FaultWorkload.state(db), try String.fetchAll(db, sql: "PRAGMA integrity_check"))
            }
            try queue.close()
            var problems: [String] = []
            if integrity != ["ok"] { problems.append("integrity: \(integrity)") }
            if !possible.contains(state) { problems.append("opened again: \(state)") }
            return problems
        } catch {
            return ["opened again: \(error)"]
        }
    }
}
