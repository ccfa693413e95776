import QuarryCore

/// The observations that wait for a change, by the tables that they depend on. A commit looks at those of its own
/// tables only.
struct ObservationIndex<Member: AnyObject> {
    private typealias Members = [ObjectIdentifier: Member]

    private var byTable: [TableName: Members] = [:]
    /// The observations of the full database.
    private var unbounded: Members = [:]

    mutating func insert(_ member: Member, of region: DatabaseRegion) {
        let id = ObjectIdentifier(member)
        guard let names = region.tableNames else {
            unbounded[id] = member
            return
        }
        for name in names { byTable[name, default: [:]][id] = member }
    }

    mutating func remove(_ member: Member, of region: DatabaseRegion) {
        let id = ObjectIdentifier(member)
        guard let names = region.tableNames else {
            unbounded[id] = nil
            return
        }
        for name in names {
            byTable[name]?[id] = nil
            if byTable[name]?.isEmpty ?? false { byTable[name] = nil }
        }
    }

    /// Calls `body` with the observations of the changed tables; more than once with one of several of them.
    func forEach(changedBy changes: DatabaseRegion, _ body: (Member) -> Void) {
        if !unbounded.isEmpty { for member in unbounded.values { body(member) } }
        guard !byTable.isEmpty else { return }
        let areListed = changes.forEachTable { name in
            guard let members = byTable[name] else { return }
            for member in members.values { body(member) }
        }
        guard !areListed else { return }
        for members in byTable.values {
            for member in members.values { body(member) }
        }
    }
}
