import QuarryTestSupport
import Testing

@testable import QuarryCore

/// Objects that upper layers keep with a connection, by their class.
@Suite("Attachments") struct AttachmentsTests {
    private final class Cache: ConnectionAttachment {
        static let keepsStatements = false
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    private final class Plans: ConnectionAttachment {
        static let keepsStatements = true
        let statement: Statement
        init(_ statement: Statement) { self.statement = statement }
    }

    @Test func anObjectIsFoundByItsClass() throws {
        let connection = try TestConnection()
        try connection.access { db in
            #expect(db.attachment(Cache.self) == nil)
            let plans = Plans(try db.makeStatement(sql: "SELECT 1"))
            db.attach(Cache(1))
            db.attach(plans)
            #expect(db.attachment(Cache.self)?.number == 1)
            #expect(db.attachment(Plans.self) === plans)
            db.attach(Cache(2))
            #expect(db.attachment(Cache.self)?.number == 2)
            #expect(db.attachment(Plans.self) === plans)
        }
    }

    @Test func keepersOfStatementsAreReleasedWithTheKeptStatements() throws {
        let connection = try TestConnection()
        weak var plans: Plans?
        try connection.access { db in
            let made = Plans(try db.makeStatement(sql: "SELECT 1"))
            plans = made
            db.attach(made)
            db.attach(Cache(1))
        }
        #expect(plans != nil)
        try connection.access { db in
            db.releaseMemory()
            #expect(db.attachment(Plans.self) == nil)
            #expect(db.attachment(Cache.self)?.number == 1)
        }
        #expect(plans == nil)
    }

    /// A kept statement would keep the connection from closing.
    @Test func closingReleasesTheKeepersOfStatements() throws {
        let connection = try TestConnection()
        try connection.access { db in
            db.attach(Plans(try db.makeStatement(sql: "SELECT 1")))
            try db.close()
        }
        #expect(connection.database.isClosed)
    }
}
