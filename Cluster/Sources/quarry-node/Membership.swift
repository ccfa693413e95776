import ArgumentParser
import ClusterNode
import QuarryClusterWire

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the members, their roles and the leader.")

    @OptionGroup var cluster: ClusterOptions

    func run() throws {
        let leader = try cluster.leader()
        for member in try leader.members() {
            let mark = member.address == leader.address.description ? " leader" : ""
            print("\(member.id) \(member.address) \(member.role)\(mark)")
        }
    }
}

/// The member that a command is about.
struct MemberArgument: ParsableArguments {
    @Argument(help: "The member's number or its address.") var member: String

    func member(of leader: NodeClient) throws -> ClusterMember {
        let members = try leader.members()
        guard let found = members.first(where: { $0.address == member || String($0.id) == member }) else {
            throw ValidationError("The cluster has no member \(member).")
        }
        return found
    }
}

struct Assign: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Gives a member a role. The leader may change it again to have as many voters as wanted.")

    @OptionGroup var member: MemberArgument
    @Argument(help: "voter, standby or spare.") var role: RoleArgument
    @OptionGroup var cluster: ClusterOptions

    func run() throws {
        let leader = try cluster.leader()
        _ = try leader.call(.assign(id: member.member(of: leader).id, role: role.role))
    }
}

struct Transfer: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Hands the leadership over to a voter.")

    @OptionGroup var member: MemberArgument
    @OptionGroup var cluster: ClusterOptions

    func run() throws {
        let leader = try cluster.leader()
        let target = try member.member(of: leader)
        guard target.role == .voter else {
            throw ValidationError("\(target.address) is a \(target.role): only a voter can lead.")
        }
        if target.address == leader.address.description { return }
        _ = try leader.call(.transfer(id: target.id))
    }
}

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes a member for good. Stop it first; its folder can't join again.")

    @OptionGroup var member: MemberArgument
    @OptionGroup var cluster: ClusterOptions

    func run() throws {
        var leader = try cluster.leader()
        let target = try member.member(of: leader)
        if target.address == leader.address.description {
            guard let other = try leader.members().first(where: { $0.role == .voter && $0.id != target.id }) else {
                throw ValidationError("\(target.address) is the only voter: a cluster can't lose it.")
            }
            _ = try leader.call(.transfer(id: other.id))
            leader = try NodeClient.leader(of: [NodeAddress(other.address)], cluster.tls.connector())
        }
        _ = try leader.call(.remove(id: target.id))
    }
}

/// A role by its name.
enum RoleArgument: String, CaseIterable, ExpressibleByArgument {
    case voter
    case standby
    case spare

    var role: NodeRole {
        switch self {
        case .voter: .voter
        case .standby: .standby
        case .spare: .spare
        }
    }
}
