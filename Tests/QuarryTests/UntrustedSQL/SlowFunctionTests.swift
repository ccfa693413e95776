import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryUntrustedSQL

/// Functions of SQLite of which one call may take seconds that no timeout ends, or hundreds of megabytes: a policy must
/// name them.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct SlowFunctionTests {
    private func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE search USING fts5(body);
                    CREATE VIRTUAL TABLE older USING fts4(body);
                    INSERT INTO search VALUES ('a red fox');
                    INSERT INTO older VALUES ('a red fox');
                    """)
        }
        return queue
    }

    private var policy: UntrustedSQLPolicy {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("search")
        policy.allowTable("older")
        return policy
    }

    private static let long = "hex(zeroblob(49999))"

    /// The SQL takes long, or much memory; the second one is harmless.
    @Test(arguments: [
        ("printf", "SELECT printf('%.999999999c', 'x')", "SELECT printf('%d', 1)"),
        ("printf", "SELECT printf('%.*c', 999999999, 'x')", "SELECT PRINTF('%d', 1)"),
        ("format", "SELECT format('%.999999999c', 'x')", "SELECT format('%d', 1)"),
        ("instr", "SELECT instr(\(long), \(long) || '1')", "SELECT instr('a', 'a')"),
        ("replace", "SELECT replace(\(long), \(long) || '1', '')", "SELECT replace('1', '2', '')"),
        ("trim", "SELECT trim(\(long), \(long) || '1')", "SELECT trim(' 1 ')"),
        ("ltrim", "SELECT ltrim(\(long), \(long) || '1')", "SELECT ltrim(' 1')"),
        ("rtrim", "SELECT rtrim(\(long), \(long) || '1')", "SELECT rtrim('1 ')"),
        ("unhex", "SELECT unhex(\(long), \(long))", "SELECT length(unhex('31'))"),
        ("json_patch", "SELECT json_patch(\(many(0)), \(many(1)))", "SELECT json_patch('{}', '1')"),
        ("jsonb_patch", "SELECT jsonb_patch(\(many(0)), \(many(1)))", "SELECT json(jsonb_patch('{}', '1'))"),
        ("json_pretty", "SELECT json_pretty(\(deep), \(long))", "SELECT json_pretty('1')"),
        ("json_group_array", "SELECT json_group_array(\(long)) FROM \(rows)", "SELECT json_group_array(1) ->> 0"),
        (
            "json_group_object", "SELECT json_group_object(1, \(long)) FROM \(rows)",
            "SELECT json_group_object('a', 1) ->> 'a'"
        ),
        (
            "jsonb_group_array", "SELECT jsonb_group_array(\(long)) FROM \(rows)",
            "SELECT jsonb_group_array(1) ->> 0"
        ),
        (
            "jsonb_group_object", "SELECT jsonb_group_object(1, \(long)) FROM \(rows)",
            "SELECT jsonb_group_object('a', 1) ->> 'a'"
        ),
        ("median", "SELECT median(1) FROM \(rows)", "SELECT CAST(median(1) AS INTEGER)"),
        ("percentile", "SELECT percentile(1, 5) FROM \(rows)", "SELECT CAST(percentile(1, 5) AS INTEGER)"),
        ("percentile_cont", "SELECT percentile_cont(1, 0.5)", "SELECT CAST(percentile_cont(1, 0.5) AS INTEGER)"),
        ("percentile_disc", "SELECT percentile_disc(1, 0.5)", "SELECT CAST(percentile_disc(1, 0.5) AS INTEGER)"),
        (
            "highlight", "SELECT highlight(search, 0, \(long), \(long)) FROM search('red')",
            "SELECT highlight(search, 0, '', '') = body FROM search('red')"
        ),
        (
            "snippet", "SELECT snippet(search, 0, \(long), \(long), '', 64) FROM search('red')",
            "SELECT snippet(search, 0, '', '', '', 64) = body FROM search('red')"
        ),
        (
            "matchinfo", "SELECT matchinfo(older, replace(\(long), '0', 's')) FROM older WHERE older MATCH 'red'",
            "SELECT length(matchinfo(older, 'p')) / 4 FROM older WHERE older MATCH 'red'"
        ),
    ]) func mustBeAllowed(_ function: String, _ slow: String, _ harmless: String) throws {
        let queue = try queue()
        var policy = policy
        for sql in [slow, harmless] {
            let error = expectError(DatabaseError.self) { try queue.fetchUntrusted(sql, policy: policy) }
            // SQLite 3.40.1 lacks some of them.
            let expected = ["calling \(function) isn't allowed", "no such function: \(function)"]
            #expect(expected.contains(error?.message?.lowercased() ?? ""))
        }
        guard (try? queue.read { db in try Row.fetchAll(db, sql: harmless) }) != nil else { return }
        policy.allowFunctions([function])
        #expect(try queue.fetchUntrusted(harmless, policy: policy).rows.map { "\($0[0].storage.value ?? "")" } == ["1"])
    }

    /// A deep array.
    private static let deep = "replace(hex(zeroblob(450)), '0', '[') || replace(hex(zeroblob(450)), '0', ']')"

    /// An object of many equal keys.
    private static func many(_ value: Int) -> String {
        "'{' || replace(hex(zeroblob(7000)), '0', '\"\":\(value),') || '\"\":2}'"
    }

    /// Many rows.
    private static let rows = (0..<30).map { "(VALUES (0), (1)) AS t\($0)" }.joined(separator: ", ")

    /// As all table-valued functions.
    @Test(arguments: ["json_each", "json_tree", "jsonb_each", "jsonb_tree"])
    func jsonTablesMustBeAllowed(_ function: String) throws {
        var policy = policy
        for sql in ["SELECT atom FROM \(function)('1')", "SELECT COUNT(*) FROM \(function)('1')"] {
            guard (try? DatabaseQueue().read { db in try Row.fetchAll(db, sql: sql) }) != nil else { continue }
            // SQLite 3.54 makes the table when a connection first uses it.
            let queue = try queue()
            let error = expectError(.SQLITE_AUTH) { try queue.fetchUntrusted(sql, policy: policy) }
            // SQLite 3.40 makes it when it reads the statement.
            #expect(
                [
                    "reading \(function) isn't allowed",
                    "a built-in virtual table, or writing to sqlite_master, isn't allowed",
                ].contains(error?.message))
            policy.allowFunctions([function])
            #expect(try queue.fetchUntrusted(sql, policy: policy).rows == [[1.databaseValue]])
            policy.denyFunctions([function])
        }
    }
}
