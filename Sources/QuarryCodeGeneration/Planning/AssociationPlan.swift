internal import QuarrySQL

/// An association that is to be written.
struct AssociationPlan {
    enum Kind: String {
        case belongsTo
        case hasMany
        case hasOne
    }

    var kind: Kind
    var name: String
    var destination: String
    /// Nil where the association's own name says it.
    var key: String?
    /// Nil where the schema says it.
    var columns: (origin: [String], destination: [String]?)?
}

/// Finds the associations of all records.
struct AssociationPlanner {
    private var records: [RecordPlan]
    private var scopes: [NameScope]

    /// Adds the associations of foreign keys to records, both ways.
    static func plan(_ records: inout [RecordPlan]) {
        var planner = AssociationPlanner(records)
        planner.plan()
        records = planner.records
    }

    private init(_ records: [RecordPlan]) {
        self.records = records
        scopes = records.map { _ in NameScope(reserved: ReservedNames.statics) }
    }

    private mutating func plan() {
        var referring: [(child: Int, parent: Int, key: SchemaForeignKey, name: String)] = []
        for child in records.indices {
            for key in records[child].table.foreignKeys {
                guard let parent = records.firstIndex(where: { $0.table.name.isSameSQLName(as: key.table) }) else {
                    continue
                }
                let name = addParent(parent, to: child, key)
                referring.append((child: child, parent: parent, key: key, name: name))
            }
        }
        for (child, parent, key, name) in referring { addChildren(child, to: parent, key, parentName: name) }
    }

    /// - returns: the name of the association.
    private mutating func addParent(_ parent: Int, to child: Int, _ key: SchemaForeignKey) -> String {
        let table = records[child].table
        let parentName = SwiftName.uncapitalized(records[parent].typeName)
        let byColumn = key.columns.count == 1 ? Self.name(ofReference: key.columns[0], key) : nil
        let wanted = byColumn.map { Self.swiftName($0) } ?? parentName
        let name =
            wanted == parentName
            ? scopes[child].take(wanted, wanted + "Row")
            : scopes[child].take(wanted, parentName + "By" + SwiftName.capitalized(wanted))
        let isDefault = name == AssociationNames.singular(records[parent].table.name)
        records[child].associations.append(
            AssociationPlan(
                kind: .belongsTo, name: name, destination: records[parent].typeName, key: isDefault ? nil : name,
                columns: isOnly(key, of: table) ? nil : (key.columns, key.destinationColumns)))
        return name
    }

    private mutating func addChildren(_ child: Int, to parent: Int, _ key: SchemaForeignKey, parentName: String) {
        let table = records[child].table
        let set = Set(key.columns.map(\.sqlName))
        let isOne = table.uniqueKeys.contains { Set($0.map(\.sqlName)) == set }
        let noun = EnglishNoun(SwiftName.uncapitalized(records[child].typeName))
        let name = isOne ? noun.singular : noun.plural
        let byName = name + "By" + SwiftName.capitalized(parentName)
        let toSameTable = table.foreignKeys.filter { $0.table.isSameSQLName(as: key.table) }.count
        let chosen: String
        if child == parent {
            chosen =
                parentName == "parent"
                ? scopes[parent].take(isOne ? "child" : "children", byName) : scopes[parent].take(byName)
        } else if toSameTable > 1 {
            chosen = scopes[parent].take(byName)
        } else {
            chosen = scopes[parent].take(name, byName)
        }
        let noKey = isOne ? AssociationNames.singular(table.name) : AssociationNames.plural(table.name)
        records[parent].associations.append(
            AssociationPlan(
                kind: isOne ? .hasOne : .hasMany, name: chosen, destination: records[child].typeName,
                key: chosen == noKey ? nil : chosen,
                columns: isOnly(key, of: table) ? nil : (key.columns, key.destinationColumns)))
    }

    /// Whether a foreign key is the only one of its table to another.
    private func isOnly(_ key: SchemaForeignKey, of table: SchemaTable) -> Bool {
        table.foreignKeys.filter { $0.table.isSameSQLName(as: key.table) }.count == 1
    }

    /// `team` for `teamId`, `team_id`, `teamCode` (where it refers to `code`), and `captain` for `captain`. Nil for
    /// what says nothing: `id`.
    private static func name(ofReference column: String, _ key: SchemaForeignKey) -> String? {
        let endings = ["id"] + (key.destinationColumns ?? [])
        if endings.contains(where: { $0.isSameSQLName(as: column) }) { return nil }
        for ending in endings where column.count > ending.count && column.sqlName.hasSuffix(ending.sqlName) {
            var start = column.dropLast(ending.count)
            let isWord = start.last == "_" || column.dropFirst(start.count).first?.isUppercase == true
            guard isWord else { continue }
            while start.last == "_" { start.removeLast() }
            if !start.isEmpty { return String(start) }
        }
        return column
    }

    private static func swiftName(_ name: String) -> String {
        let name = SwiftName.property(name, camelCase: true) ?? "parent"
        return ReservedNames.members.contains(name) ? name + "_" : name
    }
}

/// The keys that associations have where none is given.
enum AssociationNames {
    static func singular(_ table: String) -> String { EnglishNoun(table).singular }

    static func plural(_ table: String) -> String { EnglishNoun(table).plural }
}
