import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The objects that rooms keep with a database.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct DatabasePartsTests {
    /// Keeps the names of the parts that learn of a closing, in their order.
    private final class Log: Sendable {
        let names = Lock<[String]>([])
    }

    private final class Base: DatabasePart {
        let log = Log()

        func databaseDidClose(_ reader: any GroupReader) { log.names.withLock { $0.append("base") } }
    }

    /// Needs a base when it is made.
    private final class Client: DatabasePart {
        let base: Base

        init(_ base: Base) { self.base = base }

        func databaseDidClose(_ reader: any GroupReader) { base.log.names.withLock { $0.append("client") } }
    }

    private final class Other: DatabasePart {}

    private func makeCore() -> DatabaseCore { DatabaseCore(isShared: false, .system) }

    @Test func isMadeByItsFirstUse() throws {
        let core = makeCore()
        #expect(core.part(Base.self) == nil)
        #expect(core.allParts.isEmpty)
        let base = core.part(Base.self) { Base() }
        #expect(core.part(Base.self) === base)
        #expect(core.part(Other.self) == nil)
        let other = core.part(Other.self) { Other() }
        #expect(
            core.part(Base.self) {
                Issue.record("another was made")
                return Base()
            } === base)
        #expect(core.part(Other.self) === other)
        #expect(makeCore().part(Base.self) == nil)
    }

    @Test func comesBeforeThePartsThatItNeeds() throws {
        let core = makeCore()
        let client = core.part(Client.self) { Client(core.part(Base.self) { Base() }) }
        #expect(
            core.allParts.map { ObjectIdentifier($0) } == [ObjectIdentifier(client), ObjectIdentifier(client.base)])
    }

    /// Each thread makes three parts, in its own order.
    @Test func isOneForAllThreads() async throws {
        for _ in 0..<200 {
            let core = makeCore()
            let threads = (0..<6).map { number in
                OwnThread {
                    let makes: [() -> any DatabasePart] = [
                        { core.part(Base.self) { Base() } }, { core.part(Other.self) { Other() } },
                        { core.part(Client.self) { Client(core.part(Base.self) { Base() }) } },
                    ]
                    let made = (0..<3).map { makes[($0 + number) % 3]() }
                    return Set(made.map { ObjectIdentifier($0) })
                }
            }
            let all = Set(core.allParts.map { ObjectIdentifier($0) })
            #expect(all.count <= 3)
            for thread in threads {
                let parts = try await thread.value
                #expect(parts == Set(core.allParts.map { ObjectIdentifier($0) }))
            }
            #expect(core.allParts.count == 3)
            #expect(core.part(Client.self)?.base === core.part(Base.self))
        }
    }

    @Test(arguments: WriterKind.allCases) func learnsOfTheClosing(_ kind: WriterKind) throws {
        let folder = try TemporaryFolder()
        let writer = try kind.make(folder)
        let core = try #require(writer.groupReader?.core)
        let client = core.part(Client.self) { Client(core.part(Base.self) { Base() }) }
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(client.base.log.names.withLock(\.self) == [])
        try writer.close()
        #expect(client.base.log.names.withLock(\.self) == ["client", "base"])
    }
}

extension DatabaseCore {
    fileprivate var allParts: [any DatabasePart] {
        var all: [any DatabasePart] = []
        parts.forEach { all.append($0) }
        return all
    }
}
