/// Names that Swift, Foundation and Quarry use.
enum ReservedNames {
    /// Words that need backticks as names.
    static let keywords: Set<String> = [
        "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch", "class",
        "consuming", "continue", "default", "defer", "do", "each", "else", "enum", "extension", "fallthrough",
        "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let",
        "macro", "nil", "nonisolated", "open", "operator", "package", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "sending", "some", "static", "struct", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Names that mean something else behind a dot even in backticks, and those that records have themselves.
    static let members: Set<String> = [
        "self", "Self", "Type", "Protocol", "init", "deinit", "subscript", "Columns", "CodingKeys",
    ]

    /// Static members of records: associations get other names.
    static let statics: Set<String> = [
        "aggregates", "aliased", "all", "annotated", "association", "belongsTo", "databaseColumnDecodingStrategy",
        "databaseColumnEncodingStrategy", "databaseComponents", "databaseDataDecodingStrategy",
        "databaseDataEncodingStrategy", "databaseDateDecodingStrategy", "databaseDateEncodingStrategy",
        "databaseDecodingUserInfo", "databaseEncodingUserInfo", "databaseJSONDecoder", "databaseJSONEncoder",
        "databaseSelection", "databaseTableName", "databaseUUIDEncodingStrategy", "delete", "deleteAll", "deleteOne",
        "except", "exists", "fetchAll", "fetchCount", "fetchCursor", "fetchOne", "fetchSet", "filter", "find",
        "group", "groupByPrimaryKey", "hasMany", "hasOne", "having", "including", "insert", "insertDefaultValues",
        "intersect", "isEmpty", "joining", "limit", "matching", "none", "numberOfSelectedColumns", "order",
        "orderByPrimaryKey", "persistenceConflictPolicy", "recordNotFound", "request", "select", "selectID",
        "selectPrimaryKey", "subscript", "union", "unionAll", "update", "updateAll", "upsert", "with",
    ]

    /// Types that generated code uses, or its users are likely to.
    static let types: Set<String> = [
        "Actor", "Any", "AnyObject", "Array", "Association", "AsyncSequence", "AsyncStream", "Bool", "Bundle",
        "Calendar", "Character", "Codable", "CodingKey", "CodingKeys", "Collection", "Column", "Columns",
        "CommonTableExpression", "Comparable", "Configuration", "Cursor", "Data", "Database", "DatabaseError",
        "DatabaseMigrator", "DatabasePool", "DatabaseQueue", "DatabaseReader", "DatabaseSnapshot", "DatabaseValue",
        "DatabaseValueConvertible", "DatabaseWriter", "Date", "DateComponents", "DateInterval", "Decimal", "Decodable",
        "Decoder", "Dictionary", "Double", "Duration", "Encodable", "Encoder", "Equatable", "Error", "Expression",
        "FetchRequest", "FetchableRecord", "FileHandle", "FileManager", "Float", "ForeignKey", "Foundation",
        "Hashable", "ID", "Identifiable", "IndexSet", "InsertionSuccess", "Int", "Int16", "Int32", "Int64", "Int8",
        "IteratorProtocol", "JSONColumn", "JSONDecoder", "JSONEncoder", "JoinKind", "Locale", "Measurement",
        "MutablePersistableRecord", "Never", "Notification", "Optional", "Operation", "PersistableRecord",
        "PersistenceContainer", "Process", "Progress", "Protocol", "Quarry", "Range", "RawRepresentable", "Result",
        "ResultCode", "Row", "SQL", "SQLExpression", "SQLRequest", "Scanner", "Self", "Sendable", "Sequence", "Set",
        "SingleValueDecodingContainer", "Statement", "String", "Substring", "Swift", "Table", "TableAlias",
        "TableRecord", "Task", "Thread", "Timer", "Type", "UInt", "UInt16", "UInt32", "UInt64", "UInt8", "URL",
        "UUID", "Unit", "Unmanaged", "Void",
    ]
}
