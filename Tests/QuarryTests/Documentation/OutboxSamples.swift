import Quarry
import QuarryOutbox
import QuarryTestSupport
import Testing

@Suite struct OutboxSamples {
    struct Email: Codable, DatabaseValueConvertible, Sendable {
        var address: String
        var text: String
    }
    let emails = Outbox<Email>("email")

    @Test func deliveringEmails() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"))
        let address = "arthur@example.org"
        let sent = Recorded<[String]>([])
        @Sendable func send(_ email: Email) async throws { sent.update { $0.append(email.address) } }
        let emails = emails
        var migrator = DatabaseMigrator()
        migrator.registerMigration("customers") { db in try db.execute(sql: "CREATE TABLE customer (address TEXT)") }
        migrator.registerMigration("emails") { db in try emails.createTables(db) }
        try migrator.migrate(dbPool)
        try await dbPool.write { db in
            try db.execute(sql: "INSERT INTO customer (address) VALUES (?)", arguments: [address])
            try emails.append(Email(address: address, text: "Welcome!"), db)
        }
        let consumer = Task {
            try await emails.deliver(from: dbPool) { messages in
                for message in messages { try await send(message.payload) }
            }
        }
        try await until("the email is sent") { sent.value == [address] }
        consumer.cancel()
        _ = await consumer.result
        let failed = try await dbPool.read { db in try emails.failedMessages(db) }
        for message in failed {
            print(message.id, message.failedAttempts, message.error ?? "")
        }
        try await dbPool.write { db in try emails.retryFailedMessages(db) }
        #expect(failed.isEmpty)
    }
}
