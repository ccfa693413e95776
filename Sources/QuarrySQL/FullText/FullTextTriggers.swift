import QuarryCore

/// The triggers that keep a full-text table up to date with its content table.
package struct FullTextTriggers {
    /// The full-text table.
    package var table: String
    package var schemaName: String?
    /// The content table.
    package var contentTable: String
    /// The rowid column of the content table.
    package var rowID: String
    package var columns: [String]
    package var ifNotExists: Bool

    package init(
        table: String, schemaName: String?, contentTable: String, rowID: String, columns: [String], ifNotExists: Bool
    ) {
        self.table = table
        self.schemaName = schemaName
        self.contentTable = contentTable
        self.rowID = rowID
        self.columns = columns
        self.ifNotExists = ifNotExists
    }

    /// FTS4 reads the old words from the content table, so the row is deleted before it changes there. See
    /// <https://www.sqlite.org/fts3.html#_external_content_fts4_tables_>.
    package var fts4: [String] {
        let delete = "DELETE FROM \(name) WHERE docid=old.\(rowID.quotedDatabaseIdentifier);"
        let insert = "INSERT INTO \(name)(\((["docid"] + columns).quotedList)) VALUES(\(values("new")));"
        return [
            trigger("bu", "BEFORE UPDATE", [delete]), trigger("bd", "BEFORE DELETE", [delete]),
            trigger("au", "AFTER UPDATE", [insert]), trigger("ai", "AFTER INSERT", [insert]),
        ]
    }

    /// FTS5 receives the old words: <https://www.sqlite.org/fts5.html#external_content_tables>.
    package var fts5: [String] {
        let list = (["rowid"] + columns).quotedList
        let insert = "INSERT INTO \(name)(\(list)) VALUES (\(values("new")));"
        let delete = "INSERT INTO \(name)(\(name), \(list)) VALUES('delete', \(values("old")));"
        return [
            trigger("ai", "AFTER INSERT", [insert]), trigger("ad", "AFTER DELETE", [delete]),
            trigger("au", "AFTER UPDATE", [delete, insert]),
        ]
    }

    /// Indexes all texts again.
    package var rebuild: String {
        "INSERT INTO \(QualifiedName(name: table, schemaName: schemaName).sql)(\(name)) VALUES('rebuild')"
    }

    /// The statements that drop the triggers of an FTS4 table.
    package static func droppingFTS4(_ table: String, in schemaName: String?) -> [String] {
        dropping(["bu", "bd", "au", "ai"], table, schemaName)
    }

    /// The statements that drop the triggers of an FTS5 table.
    package static func droppingFTS5(_ table: String, in schemaName: String?) -> [String] {
        dropping(["ai", "ad", "au"], table, schemaName)
    }

    private static func dropping(_ suffixes: [String], _ table: String, _ schemaName: String?) -> [String] {
        suffixes.map { suffix in
            "DROP TRIGGER IF EXISTS \(QualifiedName(name: "__\(table)_\(suffix)", schemaName: schemaName).sql)"
        }
    }

    private var name: String { table.quotedDatabaseIdentifier }

    /// `new."id", new."title"`
    private func values(_ row: String) -> String {
        ([rowID] + columns).map { "\(row).\($0.quotedDatabaseIdentifier)" }.joined(separator: ", ")
    }

    private func trigger(_ suffix: String, _ event: String, _ body: [String]) -> String {
        let trigger = QualifiedName(name: "__\(table)_\(suffix)", schemaName: schemaName).sql
        let statements = body.map { "    \($0)\n" }.joined()
        return "CREATE TRIGGER \(ifNotExists ? "IF NOT EXISTS " : "")\(trigger) \(event)"
            + " ON \(contentTable.quotedDatabaseIdentifier) BEGIN\n\(statements)END"
    }
}
