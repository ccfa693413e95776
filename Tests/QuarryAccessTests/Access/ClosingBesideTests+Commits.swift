import Quarry
import QuarryFixtures
import QuarryOutbox
import QuarryTestSupport
import Testing

@testable import QuarryAccess

// Subscribers to commits, and consumers of outboxes.

extension ClosingBesideTests {
    @Test(arguments: kinds, CallForm.allCases) func subscribersGetTheLastCommit(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try open(kind)
        let commits = writer.commits
        let hasBegun = Step("the subscriber has begun")
        let numbers = Task {
            var iterator = commits.makeAsyncIterator()
            hasBegun.reach()
            var numbers: [Int] = []
            while let commit = await iterator.next() { numbers.append(commit.number.rawValue) }
            return numbers
        }
        try await hasBegun.reached(by: numbers)
        let (isWriting, mayEnd) = (Step("a write runs"), Step("it closes"))
        let write = OwnThread {
            try writer.writeHere { db in
                isWriting.reach()
                try mayEnd.wait()
                try db.execute(sql: "INSERT INTO t (b) VALUES (1)")
            }
        }
        try await isWriting.reached(by: write)
        let closing = close(form, writer, Self.long)
        try await until("it closes", by: closing) { isClosing(writer) }
        mayEnd.reach()
        try await write.value
        try await closing.value
        #expect(await numbers.value == [1])
        try expectNoLog(of: writer, rows: 41)
    }

    /// Waits for a commit that never comes.
    @Test(arguments: kinds, CallForm.allCases) func waitsForACommitEnd(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try open(kind)
        let (_, last) = try await writer.writeWithCommitNumber { db in try db.execute(sql: "DELETE FROM t WHERE a = 40")
        }
        let next = CommitNumber(rawValue: last.rawValue + 1)
        var waits = [Task { try await writer.waitForCommit(next) }]
        var readers: [any DatabaseReader] = []
        if let pool = writer as? DatabasePool {
            let (snapshot, stable) = (try pool.makeSnapshot(), try await pool.makeStableReader())
            waits.append(Task { try await snapshot.waitForCommit(next) })
            waits.append(Task { _ = try await stable.advance(to: next) })
            readers = [snapshot, stable]
        }
        try await until("all wait") { writer.core.journal.waiterCount == waits.count }
        try await close(form, writer, Self.long).value
        for wait in waits { await expectError(.SQLITE_MISUSE, "Connection is closed") { try await wait.value } }
        for reader in [writer] + readers {
            try await reader.waitForCommit(last)
            await expectError(.SQLITE_MISUSE, "Connection is closed") { try await reader.waitForCommit(next) }
            try await reader.closeAsync()
        }
        #expect(writer.core.journal.waiterCount == 0)
    }

    @Test func waitsOfAClosedStableReaderEnd() async throws {
        let pool = try #require(try open() as? DatabasePool)
        let stable = try await pool.makeStableReader()
        let next = CommitNumber(rawValue: stable.commitNumber.rawValue + 1)
        let wait = Task { try await stable.advance(to: next) }
        let other = Task { try await pool.waitForCommit(next) }
        try await until("both wait") { pool.core.journal.waiterCount == 2 }
        try stable.close()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await wait.value }
        try pool.insertPage()
        try await other.value
    }

    /// An outbox delivers outside of any access, so closing doesn't wait for it: what it has delivered meanwhile is
    /// delivered again later. An outbox that waits for messages ends at once.
    @Test(arguments: kinds, CallForm.allCases) func outboxesEnd(_ kind: WriterKind, _ form: CallForm) async throws {
        let outbox = Outbox<String>("email")
        let writer = try open(kind)
        try await writer.write { db in
            try outbox.createTables(db)
            for message in ["a", "b"] { try outbox.append(message, db) }
            try Outbox<String>("empty").createTables(db)
        }
        let (delivers, mayGoOn) = (Step("a message is being delivered"), Step("the database is closed"))
        let delivery = Task {
            try await outbox.deliver(from: writer, options: OutboxOptions(batch: 1)) { _ in
                delivers.reach()
                try await mayGoOn.reached()
            }
        }
        let waiting = Task { try await Outbox<String>("empty").deliver(from: writer) { _ in } }
        try await delivers.reached(by: delivery)
        try await close(form, writer, Self.long).value
        mayGoOn.reach()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await delivery.value }
        await expectError(.SQLITE_MISUSE) { try await waiting.value }
        try expectNoLog(of: writer)
        let pending = try DatabaseQueue(path: writer.path).readHere { db in
            try String.fetchAll(db, sql: "SELECT payload FROM email ORDER BY id")
        }
        #expect(pending == ["a", "b"])
    }
}
