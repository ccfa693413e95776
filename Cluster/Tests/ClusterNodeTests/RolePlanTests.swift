import QuarryClusterWire
import Testing

@testable import ClusterNode

@Suite struct RolePlanTests {
    /// Members 1, 2, … with these roles; the first one leads.
    func next(_ roles: [NodeRole], voters: Int = 3, unreachable: Set<UInt64> = []) -> RolePlan.Assignment? {
        let members = roles.enumerated().map {
            ClusterMember(id: UInt64($0.offset + 1), address: "a:\($0.offset + 1)", role: $0.element)
        }
        return RolePlan(voterCount: voters).next(members, leader: 1, unreachable: unreachable)
    }

    @Test func aNewMemberBecomesAVoter() {
        #expect(next([.voter, .spare]) == RolePlan.Assignment(id: 2, role: .voter))
        #expect(next([.voter, .voter, .spare]) == RolePlan.Assignment(id: 3, role: .voter))
    }

    @Test func furtherMembersAreStandbys() {
        #expect(next([.voter, .voter, .voter, .spare]) == RolePlan.Assignment(id: 4, role: .standby))
        #expect(next([.voter, .voter, .voter, .standby]) == nil)
    }

    @Test func aStandbyReplacesALostVoter() {
        #expect(
            next([.voter, .voter, .voter, .spare, .standby], unreachable: [2])
                == RolePlan.Assignment(id: 5, role: .voter))
        #expect(
            next([.voter, .voter, .voter, .spare, .voter], unreachable: [2])
                == RolePlan.Assignment(id: 2, role: .spare))
    }

    @Test func aLostVoterWithoutAReplacementStays() {
        #expect(next([.voter, .voter, .voter], unreachable: [3]) == nil)
    }

    @Test func unreachableMembersGetNoRole() { #expect(next([.voter, .spare], unreachable: [2]) == nil) }

    @Test func theLeaderStaysAVoter() {
        #expect(next([.voter, .voter], voters: 1) == RolePlan.Assignment(id: 2, role: .standby))
    }

    /// Any start comes to rest, with as many reachable voters as possible.
    @Test func plansEnd() {
        for code in 0..<243 {
            var rest = code
            var members = (1...5).map { id in
                defer { rest /= 3 }
                return ClusterMember(id: UInt64(id), address: "", role: id == 1 ? .voter : NodeRole.allCases[rest % 3])
            }
            let unreachable: Set<UInt64> = code % 2 == 0 ? [] : [2]
            var steps = 0
            while let step = RolePlan(voterCount: 3).next(members, leader: 1, unreachable: unreachable), steps < 20 {
                steps += 1
                members = members.map { $0.id == step.id ? ClusterMember(id: $0.id, address: "", role: step.role) : $0 }
            }
            #expect(steps < 20, "roles \(code)")
            #expect(members.filter { $0.role == .voter && !unreachable.contains($0.id) }.count == 3, "roles \(code)")
        }
    }
}
