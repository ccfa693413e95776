import Quarry
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// The observations that a commit looks at.
@Suite struct ObservationIndexTests {
    final class Member {}

    @Test func byTable() {
        var index = ObservationIndex<Member>()
        let (first, second, both, all) = (Member(), Member(), Member(), Member())
        index.insert(first, of: .t)
        index.insert(second, of: .other)
        index.insert(both, of: DatabaseRegion.t.union(.other))
        index.insert(all, of: .fullDatabase)
        #expect(Self.found(index, .t) == ids(first, both, all))
        #expect(Self.found(index, .other) == ids(second, both, all))
        #expect(Self.found(index, .fullDatabase) == ids(first, second, both, all))
        index.remove(both, of: DatabaseRegion.t.union(.other))
        index.remove(all, of: .fullDatabase)
        #expect(Self.found(index, .t) == ids(first))
        index.remove(first, of: .t)
        index.remove(second, of: .other)
        #expect(Self.found(index, .fullDatabase).isEmpty)
    }

    private func ids(_ members: Member...) -> Set<ObjectIdentifier> { Set(members.map(ObjectIdentifier.init)) }

    private static func found(
        _ index: ObservationIndex<Member>, _ changes: DatabaseRegion
    ) -> Set<ObjectIdentifier> {
        var found: Set<ObjectIdentifier> = []
        index.forEach(changedBy: changes) { found.insert(ObjectIdentifier($0)) }
        return found
    }
}
