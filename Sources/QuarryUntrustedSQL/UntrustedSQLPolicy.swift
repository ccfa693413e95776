import Quarry
import QuarryCore

/// The permissions and limits of SQL from users.
///
/// ```swift
/// var policy = UntrustedSQLPolicy()
/// policy.allowTable("player")
/// policy.allowTable("team", columns: ["id", "name"])
/// policy.timeout = .milliseconds(500)
///
/// let result = try await dbPool.fetchUntrusted(
///     "SELECT name FROM player WHERE score > ?", arguments: [100], policy: policy)
/// ```
///
/// A new policy allows SELECT, the functions of `harmlessFunctions`, and no table. It never allows anything that
/// writes, PRAGMA, ATTACH, transactions, EXPLAIN, NATURAL joins and USING.
///
/// Names are compared without regard to case. The limits can only lower those of the connection:
/// <https://www.sqlite.org/limits.html>.
public struct UntrustedSQLPolicy: Sendable {
    /// The columns of a table.
    enum Columns: Sendable, Equatable {
        case all
        /// In lower case.
        case some(Set<String>)

        init(_ names: [String]?) { self = names.map { .some(Set($0.map(\.lowercasedASCII))) } ?? .all }

        func contains(_ column: String) -> Bool {
            switch self {
            case .all: true
            case .some(let names): names.contains(column.lowercasedASCII)
            }
        }

        mutating func formUnion(_ other: Columns) {
            if case .some(let names) = self, case .some(let others) = other {
                self = .some(names.union(others))
            } else {
                self = .all
            }
        }
    }

    private(set) var allowedTables: [TableName: Columns] = [:]
    private(set) var deniedTables: [TableName: Columns] = [:]

    /// In lower case.
    private(set) var functions = Set(Self.harmlessFunctions)

    /// Whether all tables are allowed that aren't denied, in all databases of the connection. SQLite's own tables,
    /// such as `sqlite_schema`, are allowed by their names only.
    ///
    /// ```swift
    /// policy.allowsOtherTables = true
    /// policy.denyTable("account")
    /// policy.denyTable("player", columns: ["email"])
    /// ```
    public var allowsOtherTables = false

    /// Whether recursive common table expressions are allowed: <https://www.sqlite.org/lang_with.html>.
    public var allowsRecursion = false

    /// How long the SQL may run, from the beginning of `withUntrustedSQL` on.
    ///
    /// SQLite doesn't interrupt the call of a function, nor a row whose expressions don't branch:
    /// `maximumValueLength` and `maximumFunctionCallCount` bound these. A hundred calls of `LIKE` in one row may take
    /// 2 s.
    public var timeout = Duration.seconds(1)

    /// The number of rows that `fetchUntrusted` returns at most. More rows are an error.
    public var maximumRowCount = 1_000

    /// The bytes that `fetchUntrusted` returns at most: those of texts, blobs and column names, and 8 for each number.
    public var maximumByteCount = 1_000_000

    /// Bytes of a text, a blob or a row (`SQLITE_LIMIT_LENGTH`).
    ///
    /// One call of `LIKE` takes up to a fiftieth of a second for the default.
    public var maximumValueLength = 100_000

    /// Bytes of a statement (`SQLITE_LIMIT_SQL_LENGTH`).
    public var maximumSQLLength = 100_000

    /// Columns of a result (`SQLITE_LIMIT_COLUMN`).
    public var maximumColumnCount = 100

    /// The depth of an expression (`SQLITE_LIMIT_EXPR_DEPTH`).
    public var maximumExpressionDepth = 50

    /// Terms of a compound SELECT (`SQLITE_LIMIT_COMPOUND_SELECT`).
    public var maximumCompoundCount = 5

    /// Instructions of a prepared statement (`SQLITE_LIMIT_VDBE_OP`).
    public var maximumInstructionCount = 25_000

    /// Arguments of a function (`SQLITE_LIMIT_FUNCTION_ARG`).
    public var maximumFunctionArgumentCount = 8

    /// Calls of functions in a prepared statement, also of `LIKE` and other operators that are functions. More are
    /// `SQLITE_TOOBIG`.
    ///
    /// ```swift
    /// policy.maximumFunctionCallCount = 20
    /// ```
    ///
    /// SQLite copies the expressions of some subqueries, and each copy counts:
    /// <https://www.sqlite.org/opcode.html#Function>.
    public var maximumFunctionCallCount = 100

    /// Bytes of a LIKE or GLOB pattern (`SQLITE_LIMIT_LIKE_PATTERN_LENGTH`).
    public var maximumPatternLength = 50

    /// The highest number of a parameter (`SQLITE_LIMIT_VARIABLE_NUMBER`).
    public var maximumArgumentCount = 100

    /// A policy that allows no table.
    public init() {}

    // MARK: - Tables

    /// Allows to read a table, or some of its columns.
    ///
    /// ```swift
    /// policy.allowTable("player")
    /// policy.allowTable("team", columns: ["id", "name"])
    /// policy.allowTable("player", schema: "archive")
    /// ```
    ///
    /// A view needs no permission: the tables and columns that it reads do. But a view whose SQL has a NATURAL join or
    /// USING must be allowed by its name, because SQLite doesn't tell which columns those read. A table of full-text
    /// search can be used if all of its columns are allowed, with the table of its content.
    ///
    /// - parameter columns: nil for all columns. Further calls for the same table add columns. `rowid` is a column.
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    public mutating func allowTable(_ name: String, columns: [String]? = nil, schema: String = "main") {
        allowedTables[TableName(schema: schema, name: Self.canonical(name)), default: .some([])]
            .formUnion(Columns(columns))
    }

    /// Forbids to read a table, or some of its columns, whatever else is allowed.
    ///
    /// - parameter columns: nil for all columns. Further calls for the same table add columns.
    /// - parameter schema: `main`, `temp`, or the name of an attached database.
    public mutating func denyTable(_ name: String, columns: [String]? = nil, schema: String = "main") {
        deniedTables[TableName(schema: schema, name: Self.canonical(name)), default: .some([])]
            .formUnion(Columns(columns))
    }

    /// SQLite's lists of tables have two names: <https://www.sqlite.org/schematab.html>.
    static func canonical(_ table: String) -> String {
        switch table.lowercasedASCII {
        case "sqlite_schema": "sqlite_master"
        case "sqlite_temp_schema": "sqlite_temp_master"
        default: table
        }
    }

    // MARK: - Functions

    /// Allows to call functions: functions of the program, and table-valued functions.
    ///
    /// ```swift
    /// policy.allowFunctions(["distance", "json_each"])
    /// ```
    ///
    /// Of SQLite's own, `harmlessFunctions` leaves out those of which one call may exceed each timeout.
    public mutating func allowFunctions(_ names: [String]) { functions.formUnion(names.map(\.lowercasedASCII)) }

    /// Forbids to call functions.
    ///
    /// ```swift
    /// policy.denyFunctions(["random", "randomblob"])
    /// ```
    public mutating func denyFunctions(_ names: [String]) { functions.subtract(names.map(\.lowercasedASCII)) }

    /// The functions that a new policy allows: those of SQLite that compute from their arguments, the date and random
    /// numbers, in a time that ``maximumValueLength`` bounds.
    ///
    /// Not among them are `load_extension`, functions that tell of the library and the connection, table-valued
    /// functions such as `json_each`, and functions of the program. Nor are functions of which one call may take
    /// long, which no timeout ends, or hundreds of megabytes: `printf` and `format`; `instr` and `replace`; `trim`,
    /// `ltrim`, `rtrim` and `unhex`; `json_patch` and `json_pretty`; `json_group_array` and `json_group_object`;
    /// `median` and the percentiles; `highlight`, `snippet` and `matchinfo` of full-text search.
    ///
    /// See <https://www.sqlite.org/lang_corefunc.html>.
    public static let harmlessFunctions: [String] = [
        // https://www.sqlite.org/lang_corefunc.html
        "abs", "char", "coalesce", "concat", "concat_ws", "glob", "hex", "if", "ifnull", "iif", "length",
        "like", "likelihood", "likely", "lower", "max", "min", "nullif", "octet_length", "quote", "random",
        "randomblob", "round", "sign", "soundex", "substr", "substring", "typeof", "unicode", "unistr",
        "unlikely", "upper", "zeroblob",
        // https://www.sqlite.org/lang_aggfunc.html
        "avg", "count", "group_concat", "string_agg", "sum", "total",
        // https://www.sqlite.org/lang_datefunc.html
        "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff", "current_date", "current_time",
        "current_timestamp",
        // https://www.sqlite.org/windowfunctions.html#built_in_window_functions
        "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value",
        "last_value", "nth_value",
        // https://www.sqlite.org/lang_mathfunc.html
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees", "exp",
        "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan",
        "tanh", "trunc",
        // https://www.sqlite.org/json1.html
        "json", "json_array", "json_array_length", "json_error_position", "json_extract", "->", "->>", "json_insert",
        "json_object", "json_remove", "json_replace", "json_set", "json_type", "json_valid", "json_quote", "jsonb",
        "jsonb_array", "jsonb_extract", "jsonb_insert", "jsonb_object", "jsonb_remove", "jsonb_replace", "jsonb_set",
        // https://www.sqlite.org/fts5.html
        "match", "bm25", "offsets",
    ]

    // MARK: - Limits

    /// The limits of a connection.
    var limits: [(limit: Database.Limit, value: Int)] {
        [
            (.length, maximumValueLength), (.sqlLength, maximumSQLLength), (.column, maximumColumnCount),
            (.expressionDepth, maximumExpressionDepth), (.compoundSelect, maximumCompoundCount),
            (.virtualMachineInstructions, maximumInstructionCount),
            (.functionArgument, maximumFunctionArgumentCount), (.attached, 0),
            (.likePatternLength, maximumPatternLength), (.variableNumber, maximumArgumentCount), (.triggerDepth, 0),
            (.workerThreads, 0),
        ]
    }

    /// Throws for numbers that are no limits.
    func check() throws(DatabaseError) {
        for (name, value) in [
            ("maximumRowCount", maximumRowCount), ("maximumByteCount", maximumByteCount),
            ("maximumValueLength", maximumValueLength), ("maximumSQLLength", maximumSQLLength),
            ("maximumColumnCount", maximumColumnCount), ("maximumExpressionDepth", maximumExpressionDepth),
            ("maximumCompoundCount", maximumCompoundCount), ("maximumInstructionCount", maximumInstructionCount),
            ("maximumFunctionArgumentCount", maximumFunctionArgumentCount),
            ("maximumFunctionCallCount", maximumFunctionCallCount), ("maximumPatternLength", maximumPatternLength),
            ("maximumArgumentCount", maximumArgumentCount),
        ] where value < 0 || value > Int(CInt.max) {
            throw DatabaseError.misuse("UntrustedSQLPolicy.\(name) must be from 0 to \(CInt.max), not \(value)")
        }
        // SQLite takes 0 for no limit: https://www.sqlite.org/limits.html#max_expr_depth
        guard maximumExpressionDepth > 0 else {
            throw DatabaseError.misuse("UntrustedSQLPolicy.maximumExpressionDepth must be at least 1, not 0")
        }
    }
}
