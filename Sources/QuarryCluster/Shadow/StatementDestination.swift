import QuarryCore

/// The end at which a statement runs.
enum StatementDestination: Equatable {
    /// The shadow answers it: it asks for the schema, or for a setting of the connection.
    case shadow
    /// The other end runs it, and returns rows or a count of changes.
    case remote
    /// Both run it, the other end first: it begins or ends a transaction or a savepoint, or changes the schema.
    case both
    /// It can't run. The text is the subject of the error.
    case refused(String)

    static let temporaryObject = "a temporary table, view or trigger, which the next leader won't have"

    init(_ kind: StatementKind, sql: Substring.UTF8View) {
        var words = sql.makeWordIterator()
        let first = words.next()
        switch kind {
        case .begin, .commit, .rollback, .rollbackToSavepoint, .savepoint, .release: self = .both
        case .query: self = .remote
        case .attachment: self = .refused("\(first ?? "ATTACH") of a database")
        case .other:
            switch first {
            case "EXPLAIN": self = .remote
            case "PRAGMA": self = RemotePragma(sql).destination
            case "VACUUM": self = .refused("VACUUM")
            case "CREATE", "DROP":
                let second = words.next()
                let isTemporary = second == "TEMP" || second == "TEMPORARY"
                self = isTemporary ? .refused(Self.temporaryObject) : .both
            default: self = .both
            }
        }
    }
}

/// A PRAGMA: <https://www.sqlite.org/pragma.html#syntax>.
struct RemotePragma {
    /// In small letters, without the schema.
    let name: String

    /// Whether it has a value or an argument.
    let hasArgument: Bool

    init(_ sql: Substring.UTF8View) {
        var rest = sql.skippingSpaceAndComments.dropFirst("PRAGMA".utf8.count).skippingSpaceAndComments
        var name = Self.takeName(&rest)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst().skippingSpaceAndComments
            name = Self.takeName(&rest)
        }
        self.name = name.lowercasedASCII
        hasArgument = rest.first == UInt8(ascii: "=") || rest.first == UInt8(ascii: "(")
    }

    private static func takeName(_ rest: inout Substring.UTF8View) -> String {
        let quotes = Array("\"`[]'".utf8)
        let name = rest.prefix { $0.isPartOfIdentifier || quotes.contains($0) }
        rest = rest[name.endIndex...].skippingSpaceAndComments
        return String(decoding: name.filter { !quotes.contains($0) }, as: UTF8.self)
    }

    /// Only what is known to do no harm is sent: some settings stop a node's other work, or are lost with the leader.
    var destination: StatementDestination {
        switch name {
        // The schema.
        case "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
            "database_list":
            return .shadow
        case "foreign_key_check", "integrity_check", "quick_check", "user_version", "application_id": return .remote
        case "defer_foreign_keys": return hasArgument ? .both : .shadow
        // A setting can be read. A change would have to reach both sides, and every later leader.
        case _ where hasArgument: break
        case "schema_version", "foreign_keys", "function_list", "module_list", "pragma_list", "collation_list",
            "compile_options", "encoding", "legacy_alter_table", "recursive_triggers", "query_only":
            return .shadow
        case "page_count", "freelist_count", "page_size", "journal_mode": return .remote
        default: break
        }
        return .refused("PRAGMA \(name)\(hasArgument ? " with a value" : "")")
    }
}
