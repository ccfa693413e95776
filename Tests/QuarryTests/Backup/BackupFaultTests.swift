import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry
@testable import QuarryCore

/// Each call of the file system that a backup makes itself fails, or is the moment at which the task is cancelled.
@Suite struct BackupFaultTests {
    let folder: TemporaryFolder
    let target: TemporaryFolder
    var path: String { target.file("copy") }

    init() throws {
        folder = try TemporaryFolder()
        target = try TemporaryFolder()
    }

    /// The calls of one backup, and the number of those that are to be made before something happens.
    private final class Calls: Sendable {
        let made = Recorded<[FileOperations.Kind]>([])

        func operations(_ nth: Int, _ happens: @escaping @Sendable () -> CInt) -> FileOperations {
            var files = FileOperations()
            files.fault = { [made] kind, _ in
                let count = made.update { made in
                    made.append(kind)
                    return made.count
                }
                return count == nth ? happens() : 0
            }
            return files
        }
    }

    private func prepared(_ options: BackupOptions, exists: Bool) throws {
        for name in try target.names { try FileManager.default.removeItem(atPath: target.file(name)) }
        if options.replacesExisting, exists { try Data("precious".utf8).write(to: URL(fileURLWithPath: path)) }
    }

    private func options(replaces: Bool, isCompact: Bool) -> BackupOptions {
        var options = BackupOptions()
        options.replacesExisting = replaces
        options.compact = isCompact
        options.pagesPerStep = 2
        return options
    }

    /// The state of the target: a whole backup, the file before, or nothing; and nothing else in the folder, unless it
    /// can't be removed.
    private func outcome(mayLeave: Bool = false) throws -> String {
        let names = try target.names.filter { !mayLeave || !$0.hasSuffix(".partial") }
        guard names == ["copy"] else { return names == [] ? "nothing" : "\(names)" }
        if try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8) { return "before" }
        return try contents(ofFile: path) == contents(ofFile: folder.file("db")) ? "whole" : "torn"
    }

    @Test(arguments: [false, true], [false, true]) func eachCallFails(replaces: Bool, isCompact: Bool) throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.makePages(5)
        for (number, code) in [(ENOSPC, ResultCode.SQLITE_FULL), (EIO, nil)] as [(CInt, ResultCode?)] {
            var nth = 1
            while true {
                var options = options(replaces: replaces, isCompact: isCompact)
                try prepared(options, exists: true)
                let calls = Calls()
                options.files = calls.operations(nth) { number }
                var failure: (any Error)?
                do { try queue.backup(toFile: path, options: options) } catch { failure = error }
                guard calls.made.value.count >= nth else { break }
                let kind = calls.made.value[nth - 1]
                let outcome = try outcome(mayLeave: kind == .remove)
                let name = "call \(nth), \(kind): \(outcome), \(failure.map { "\($0)" } ?? "no error")"
                if let failure {
                    #expect(["nothing", "before"].contains(outcome) || replaces && kind == .syncFolder, "\(name)")
                    #expect(outcome != "torn", "\(name)")
                    let error = failure as? DatabaseError
                    #expect(
                        error?.message?.hasPrefix("backup of \(queue.path) to \(path): could not ") == true, "\(name)")
                    if let code { #expect(error?.resultCode == code, "\(name)") }
                } else {
                    // Without removing leftovers and names that aren't needed, it is still a backup.
                    #expect(outcome == "whole", "\(name)")
                    #expect([.list, .remove, .link].contains(kind), "\(name)")
                }
                nth += 1
            }
            #expect(nth > 12)
        }
        // A leftover of these is removed.
        var last = options(replaces: replaces, isCompact: isCompact)
        last.files = FileOperations()
        try prepared(last, exists: true)
        try queue.backup(toFile: path, options: last)
        #expect(try outcome() == "whole")
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool, .memoryQueue], [false, true]) func cancelledAtEachCall(
        kind: WriterKind, isCompact: Bool
    ) async throws {
        let writer = try kind.make(folder)
        try writer.makePages(12)
        let before = try contents(of: writer)
        var nth = 1
        while true {
            var options = options(replaces: false, isCompact: isCompact)
            try prepared(options, exists: false)
            let calls = Calls()
            options.files = calls.operations(nth) {
                withUnsafeCurrentTask { $0?.cancel() }
                return 0
            }
            let task = Task { [options] in try await writer.backupAsync(toFile: path, options: options) }
            let result = await task.result
            guard calls.made.value.count >= nth else { break }
            switch result {
            case .success: #expect(try contents(ofFile: path) == before, "call \(nth)")
            case .failure(let error):
                #expect(error is CancellationError, "call \(nth): \(error)")
                #expect(try target.names == [], "call \(nth)")
            }
            nth += 1
        }
        #expect(nth > 12)
        // The connection is free.
        try writer.insertPage()
        #expect(try contents(of: writer).last == "ok")
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool, .memoryQueue]) func cancelledBetweenSteps(
        kind: WriterKind
    ) async throws {
        let writer = try kind.make(folder)
        try writer.makePages(12)
        for nth in 1...6 {
            let count = Recorded(0)
            let task = Task {
                try await writer.backupAsync(toFile: path, options: options(replaces: false, isCompact: false)) { _ in
                    if count.update({ count in
                        count += 1
                        return count
                    }) == nth {
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(count.value == nth)
            #expect(try target.names == [])
        }
        try await writer.backupAsync(toFile: path)
    }

    /// Cancelled before, while it waits for the connection, and while the restored content waits for a reader.
    @Test func cancelledWaits() async throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.makePages(5)
        try await queue.backupAsync(toFile: path)
        let mayEnd = Step("the access may end")
        let runs = Step("an access runs")
        let access = OwnThread {
            try queue.read { _ in
                runs.reach()
                try mayEnd.wait()
            }
        }
        try await runs.reached()
        let backup = Task { try await queue.backupAsync(toFile: target.file("b")) }
        let restore = Task { try await queue.restore(from: path) }
        try await until("both wait") { queue.runner.group.waiterCount == 2 }
        backup.cancel()
        restore.cancel()
        await #expect(throws: CancellationError.self) { try await backup.value }
        await #expect(throws: CancellationError.self) { try await restore.value }
        mayEnd.reach()
        try await access.value
        #expect(try target.names == ["copy"])
        let dead = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.backupAsync(toFile: target.file("b"))
        }
        await #expect(throws: CancellationError.self) { try await dead.value }
        #expect(try rowCount(of: queue) == 5)
    }

    /// The task is cancelled while the content is copied: at its busy handler, or between its steps.
    @Test(arguments: [WriterKind.fileQueue, .pool]) func cancelledRestore(kind: WriterKind) async throws {
        var configuration = Configuration()
        let task = Recorded<Task<Void, any Error>?>(nil)
        configuration.busyMode = .callback { _ in
            task.value?.cancel()
            return true
        }
        let writer = try kind.make(folder, configuration)
        try writer.makePages(5)
        try writer.backup(toFile: path)
        try writer.insertPage()
        let other = try DatabaseQueue(path: writer.path)
        let mayEnd = Step("the lock may go")
        let isLocked = Step("the lock is held")
        let lock = OwnThread {
            try other.write { db in
                try db.execute(sql: "UPDATE t SET b = 1 WHERE a = 1")
                isLocked.reach()
                try mayEnd.wait()
            }
        }
        try await isLocked.reached()
        let restore = Task {
            try await writer.restore(from: path)
        }
        task.update { $0 = restore }
        let result = await restore.result
        #expect(throws: CancellationError.self) { try result.get() }
        mayEnd.reach()
        try await lock.value
        #expect(try rowCount(of: writer) == 6)
        try await writer.restore(from: path)
        #expect(try rowCount(of: writer) == 5)
    }
}
