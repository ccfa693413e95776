import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

/// Each call of the file system that a backup makes itself fails, or is the moment at which the task is cancelled.
@Suite struct BackupFaultTests {
    let folder: TemporaryFolder
    let target: TemporaryFolder
    var path: String { target.file("copy") }

    init() throws {
        folder = try TemporaryFolder()
        target = try TemporaryFolder()
    }

    /// The target of a backup before it begins.
    enum Target: String, CaseIterable, Codable, CustomTestStringConvertible {
        case absent, replaced, withoutLinks, withoutLocks, besideLeftovers

        var testDescription: String { rawValue }

        /// The errors with which calls of a kind always fail.
        @Sendable func always(_ kind: FileOperations.Kind) -> CInt {
            switch (self, kind) {
            case (.withoutLinks, .link): EPERM
            case (.withoutLocks, .lock): ENOLCK
            default: 0
            }
        }
    }

    private func options(_ target: Target = .absent, isCompact: Bool) -> BackupOptions {
        var options = BackupOptions()
        options.replacesExisting = target == .replaced
        options.compact = isCompact
        options.pagesPerStep = 2
        return options
    }

    private func prepare(_ target: Target) throws {
        for name in try self.target.names { try FileManager.default.removeItem(atPath: self.target.file(name)) }
        switch target {
        case .absent, .withoutLinks, .withoutLocks: break
        case .replaced: try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        case .besideLeftovers:
            for name in ["0123456789abcdef.partial", "fedcba9876543210.partial", "fedcba9876543210.partial-journal"] {
                try Data("leftover".utf8).write(to: URL(fileURLWithPath: self.target.file(".copy.\(name)")))
            }
        }
    }

    @Test(arguments: Target.allCases, [false, true]) func eachCallFails(_ before: Target, isCompact: Bool) async throws
    {
        // Not on one of Swift's threads: it takes a while.
        try await onOwnThread {
            try eachCallFails(.pool, before, isCompact: isCompact, EIO, nil)
            guard before == .absent else { return }
            try eachCallFails(.fileQueue, before, isCompact: isCompact, EIO, nil)
            try eachCallFails(.pool, before, isCompact: isCompact, ENOSPC, .SQLITE_FULL)
        }
    }

    private func eachCallFails(
        _ kind: WriterKind, _ before: Target, isCompact: Bool, _ number: CInt, _ code: ResultCode?
    ) throws {
        let folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        // No checkpoint comes in between, and no unused connection is closed.
        configuration.wal = .unmanaged
        configuration.persistentReadOnlyConnections = true
        let writer = try kind.make(folder, configuration)
        try writer.makePages(5)
        let whole = try contents(of: writer)
        // SQLite keeps descriptors that it can't close yet for the next connection.
        try prepare(.absent)
        try writer.backup(toFile: path)
        let (bytes, descriptors) = (try folder.bytes, try folder.openFiles)
        func outcome() throws -> String {
            guard try target.names.contains("copy") else { return "nothing" }
            if try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8) { return "before" }
            return try contents(ofFile: path) == whole ? "whole" : "torn"
        }
        try prepare(before)
        let count = try FileCalls.eachFails(with: number, always: before.always) { files in
            try prepare(before)
            var options = options(before, isCompact: isCompact)
            options.files = files
            try writer.backup(toFile: path, options: options)
        } check: { call, failure in
            let outcome = try outcome()
            let name = "\(kind), \(call): \(outcome), \(failure.map { "\($0)" } ?? "no error")"
            #expect(outcome != "torn", "\(name)")
            if let failure {
                let isUnsynced = before == .replaced && call.kind == .syncFolder
                #expect(outcome == (isUnsynced ? "whole" : before == .replaced ? "before" : "nothing"), "\(name)")
                let error = failure as? DatabaseError
                let operation = "backup of \(writer.path) to \(path): could not "
                #expect(error?.message?.hasPrefix(operation) == true, "\(name)")
                #expect(error?.message?.contains(call.path) == true, "\(name)")
                if let code { #expect(error?.resultCode == code, "\(name)") }
            } else {
                // Without removing leftovers and names that aren't needed, it is still a backup.
                #expect(outcome == "whole", "\(name)")
                #expect([.list, .remove, .link, .lock].contains(call.kind), "\(name)")
            }
            let others = try target.names.filter { $0 != "copy" }
            let mayLeave = call.kind == .remove || before == .besideLeftovers
            #expect(others.isEmpty || mayLeave && others.allSatisfy { $0.contains(".partial") }, "\(name): \(others)")
            #expect(try folder.bytes == bytes, "\(name)")
            #expect(try folder.openFiles == descriptors && target.openFiles == [], "\(name)")
            if others.isEmpty { return }
            // The next backup removes what is left. A process that another test starts has all locks of this one for a
            // moment.
            var next = options(.replaced, isCompact: false)
            next.check = .none
            try spin(until: "\(name): a backup removes what is left") {
                try writer.backup(toFile: path, options: next)
                return try target.names == ["copy"]
            }
        }
        #expect(count > 11)
        #expect(try outcome() == "whole" && target.names == ["copy"])
        try writer.close()
    }

    /// Each call of a restoration: the content is the one before or that of the file.
    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool], CallForm.allCases) func eachCallOfARestorationFails(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        var configuration = Configuration()
        configuration.wal = .unmanaged
        configuration.persistentReadOnlyConnections = true
        let writer = try kind.make(folder, configuration)
        try writer.makePages(5)
        try await writer.backup(toFile: path)
        try writer.insertPage()
        let (bytes, before) = (try target.bytes, try contents(of: writer))
        try await writer.backup(toFile: target.file("before"))
        let restored = try contents(ofFile: path)
        try await writer.restore(from: target.file("before"))
        let descriptors = try folder.openFiles
        var nth = 1
        while true {
            let calls = FileCalls()
            let files = calls.operations(nth) { EIO }
            var failure: (any Error)?
            do {
                switch form {
                case .sync: try await onOwnThread { try writer.restore(from: path, check: .quick, files) }
                case .async: try await writer.restore(from: path, check: .quick, files)
                }
            } catch { failure = error }
            guard calls.made.value.count >= nth else { break }
            let call = calls.made.value[nth - 1]
            if let failure {
                #expect(try contents(of: writer) == before, "\(call)")
                let error = failure as? DatabaseError
                #expect(error?.resultCode == .SQLITE_CANTOPEN, "\(failure)")
                #expect(
                    error?.message == """
                        restoring \(writer.path) from \(path): could not look at \(call.path): Input/output error
                        """, "\(failure)")
            } else {
                #expect(try contents(of: writer) == restored, "\(call)")
                try await writer.restore(from: target.file("before"))
            }
            #expect(try folder.openFiles == descriptors, "\(call)")
            #expect(try target.openFiles == [], "\(call)")
            nth += 1
        }
        #expect(nth == 3)
        #expect(try contents(of: writer) == restored)
        #expect(try target.bytes.filter { $0.key == "copy" } == bytes)
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool, .memoryQueue], [false, true]) func cancelledAtEachCall(
        kind: WriterKind, isCompact: Bool
    ) async throws {
        let writer = try kind.make(folder)
        try writer.makePages(12)
        let before = try contents(of: writer)
        var nth = 1
        while true {
            var options = options(isCompact: isCompact)
            try prepare(.absent)
            let calls = FileCalls()
            options.files = calls.operations(nth) {
                withUnsafeCurrentTask { $0?.cancel() }
                return 0
            }
            let task = Task { [options] in try await writer.backup(toFile: path, options: options) }
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
                try await writer.backup(toFile: path, options: options(isCompact: false)) { _ in
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
        try await writer.backup(toFile: path)
    }

    /// Cancelled before, while it waits for the connection, and while the restored content waits for a reader.
    @Test func cancelledWaits() async throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.makePages(5)
        try await queue.backup(toFile: path)
        let mayEnd = Step("the access may end")
        let runs = Step("an access runs")
        let access = OwnThread {
            try queue.read { _ in
                runs.reach()
                try mayEnd.wait()
            }
        }
        try await runs.reached()
        let backup = Task { try await queue.backup(toFile: target.file("b")) }
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
            try await queue.backup(toFile: target.file("b"))
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
        try await writer.backup(toFile: path)
        try writer.insertPage()
        let synchronous = try writer.writeHere { db in try db.synchronousMode() }
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
        #expect(try writer.writeHere { db in try db.synchronousMode() } == synchronous)
        try await writer.restore(from: path)
        #expect(try rowCount(of: writer) == 5)
    }
}
