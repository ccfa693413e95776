import Quarry
import QuarryCore
import QuarrySQL

/// A row of `sqlite_schema`: <https://www.sqlite.org/schematab.html>.
struct SchemaObject: Hashable {
    enum Kind: String {
        case table
        case index
        case view
        case trigger
    }

    let kind: Kind
    let name: String
    let tableName: String
    let root: UInt32
    /// nil for an index that SQLite makes for a constraint.
    let sql: String?

    /// - returns: nil if the record isn't a row of the schema.
    init?(_ record: SalvagedRecord, _ encoding: FileHeader.Encoding) {
        let values = record.values
        guard record.isComplete, values.count == 5, let type = values[0].string(encoding),
            let kind = Kind(rawValue: type), let name = values[1].string(encoding), !name.isEmpty,
            let tableName = values[2].string(encoding)
        else { return nil }
        self.kind = kind
        self.name = name
        self.tableName = tableName
        if case .integer(let number) = values[3] { root = UInt32(exactly: number) ?? 0 } else { root = 0 }
        switch values[4] {
        case .null: sql = nil
        default:
            guard let sql = values[4].string(encoding) else { return nil }
            self.sql = sql
        }
    }

    var isVirtual: Bool { kind == .table && hasPrefix("CREATE VIRTUAL TABLE") }

    /// Whether SQLite makes the object itself.
    var isInternal: Bool { name.lowercased().hasPrefix("sqlite_") }

    /// The text that creates the object, if it is of the form in which SQLite keeps it. Damage may have made another
    /// statement of it.
    var creation: String? {
        let prefixes =
            switch kind {
            case .table: ["CREATE TABLE ", "CREATE VIRTUAL TABLE "]
            case .index: ["CREATE INDEX ", "CREATE UNIQUE INDEX "]
            case .view: ["CREATE VIEW "]
            case .trigger: ["CREATE TRIGGER "]
            }
        guard let sql, let prefix = prefixes.first(where: hasPrefix) else { return nil }
        // SQLite keeps no CREATE TABLE … AS SELECT. Such a text would be run, and might not end.
        if prefix == "CREATE TABLE ", !SQLWords.beginsWithNameAndList(sql.dropFirst(prefix.count)) { return nil }
        return sql
    }

    private func hasPrefix(_ prefix: String) -> Bool {
        guard let sql, sql.utf8.count >= prefix.utf8.count else { return false }
        return sql.prefix(prefix.count).uppercased() == prefix
    }
}

/// A table that belongs to a virtual table: <https://www.sqlite.org/vtab.html#xshadowname>.
enum ShadowTable {
    /// The rows are copied over those that the new virtual table has made.
    case copied
    /// The index is rebuilt from the text.
    case rebuilt

    /// - returns: nil if the name isn't that of a table of the virtual table.
    init?(_ name: String, of table: SchemaObject) {
        guard let sql = table.sql, name.lowercased().hasPrefix(table.name.lowercased() + "_") else { return nil }
        let suffix = name.dropFirst(table.name.count + 1).lowercased()
        let text = VirtualTableText(sql)
        switch text.module {
        case "fts5":
            switch suffix {
            case "content", "config": self = .copied
            case "data", "idx", "docsize": self = text.isContentless ? .copied : .rebuilt
            default: return nil
            }
        case "fts3", "fts4":
            switch suffix {
            case "content": self = .copied
            case "segments", "segdir", "docsize", "stat": self = text.isContentless ? .copied : .rebuilt
            default: return nil
            }
        default: self = .copied
        }
    }
}
