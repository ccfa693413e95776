package import QuarryCore

/// The options of CREATE TRIGGER: <https://www.sqlite.org/lang_createtrigger.html>.
public struct TriggerOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Has no effect if a trigger with that name exists.
    public static let ifNotExists = TriggerOptions(rawValue: 1)
    /// Creates a temporary trigger, which only this connection runs, and which is dropped when it is closed.
    public static let temporary = TriggerOptions(rawValue: 2)
}

/// The event that runs a trigger.
///
/// ```swift
/// try db.create(trigger: "player_score", on: "player", .after(.update(of: ["score"])), body: "…")
/// ```
public struct TriggerEvent: Sendable {
    /// A change of a row.
    public struct Change: Sendable {
        let sql: String

        /// `INSERT`
        public static let insert = Change(sql: "INSERT")
        /// `DELETE`
        public static let delete = Change(sql: "DELETE")
        /// `UPDATE`
        public static let update = Change(sql: "UPDATE")

        /// `UPDATE OF "score", "bonus"`: a change by a statement that sets one of these columns.
        public static func update(of columns: [String]) -> Change { Change(sql: "UPDATE OF \(columns.quotedList)") }
    }

    let sql: String

    /// Before the change of a row.
    public static func before(_ change: Change) -> TriggerEvent { TriggerEvent(sql: "BEFORE \(change.sql)") }

    /// After the change of a row.
    public static func after(_ change: Change) -> TriggerEvent { TriggerEvent(sql: "AFTER \(change.sql)") }

    /// Instead of a change of a view.
    public static func insteadOf(_ change: Change) -> TriggerEvent { TriggerEvent(sql: "INSTEAD OF \(change.sql)") }
}

/// The definition of a new trigger.
package struct TriggerDefinition: Sendable {
    package var name: String
    package var schemaName: String?
    package var table: String
    package var event: TriggerEvent
    package var options: TriggerOptions
    package var condition: SQL?
    package var body: SQL

    package init(
        name: String, schemaName: String?, table: String, event: TriggerEvent, options: TriggerOptions,
        condition: SQL?, body: SQL
    ) {
        self.name = name
        self.schemaName = schemaName
        self.table = table
        self.event = event
        self.options = options
        self.condition = condition
        self.body = body
    }

    package func sql(_ resolver: some SchemaResolver) throws -> String {
        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " TRIGGER"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " " + QualifiedName(name: name, schemaName: schemaName).sql
        sql += " \(event.sql) ON \(table.quotedDatabaseIdentifier)"
        if let condition { sql += " WHEN \(try resolver.text(of: condition))" }
        var body = Substring(try resolver.text(of: body))
        while let last = body.last, last.isWhitespace || last == ";" { body.removeLast() }
        // A comment at the end would hide the semicolon.
        let endsWithComment = body.split(separator: "\n").last?.contains("--") ?? false
        return sql + " BEGIN\n\(body)" + (endsWithComment ? "\n;" : ";") + "\nEND"
    }
}
