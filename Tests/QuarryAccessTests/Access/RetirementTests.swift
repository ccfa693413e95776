import Quarry
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess

private final class Flag: Sendable {
    let isRaised = Atomic<Bool>(false)
}

/// Connections that are dropped while others open new ones in their place.
@Suite struct RetirementTests {
    @Test(.timeLimit(.minutes(10 * TestTime.factor))) func readersThatGoTakeNoNewOnesAlong() async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let end = Flag()
        let readers = (0..<3).map { _ in
            OwnThread {
                for _ in 0..<4000 { try pool.read { _ in } }
            }
        }
        let droppers = (0..<4).map { _ in
            OwnThread {
                while !end.isRaised.load(ordering: .relaxed) { pool.invalidateReadOnlyConnections() }
            }
        }
        var errors: [any Error] = []
        for thread in readers {
            do { try await thread.value } catch { errors.append(error) }
        }
        end.isRaised.store(true, ordering: .relaxed)
        for thread in droppers { try await thread.value }
        #expect(errors.isEmpty, "\(errors)")
        #expect(pool.readers.group.connectionCount <= 2)
        try await pool.read { _ in }
        try pool.close()
    }
}
