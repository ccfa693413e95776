public import QuarryClusterWire

/// Decides which member gets another role, so that a number of reachable members are voters.
public struct RolePlan: Hashable, Sendable {
    /// The wanted number of voters: odd, since an even number survives no more failures than the odd one below.
    public let voterCount: Int

    /// A plan.
    public init(voterCount: Int) { self.voterCount = voterCount }

    /// A role for a member.
    public struct Assignment: Hashable, Sendable {
        /// The member.
        public let id: UInt64

        /// Its new role.
        public let role: NodeRole
    }

    /// The next change, or `nil` if the roles are right.
    ///
    /// - parameter unreachable: Members that haven't answered for a while.
    public func next(_ members: [ClusterMember], leader: UInt64, unreachable: Set<UInt64>) -> Assignment? {
        let voters = members.filter { $0.role == .voter }
        let reachableVoters = voters.filter { !unreachable.contains($0.id) }
        let candidates = members.filter { $0.role != .voter && !unreachable.contains($0.id) }
        // A standby has the data already.
        if reachableVoters.count < voterCount,
            let candidate = candidates.min(by: { $0.role.rawValue < $1.role.rawValue })
        {
            return Assignment(id: candidate.id, role: .voter)
        }
        if voters.count > voterCount {
            if let lost = voters.first(where: { unreachable.contains($0.id) }) {
                return Assignment(id: lost.id, role: .spare)
            }
            if let last = voters.last(where: { $0.id != leader }) { return Assignment(id: last.id, role: .standby) }
        }
        return candidates.first { $0.role == .spare }.map { Assignment(id: $0.id, role: .standby) }
    }
}
