import Quarry
import QuarryCore

extension Database {
    /// Checks the file on this connection: pages, indexes, foreign keys, and full-text indexes by reading them.
    ///
    /// - parameter schema: `main`, or the name of an attached database.
    func integrityReport(
        _ level: IntegrityReport.Level, maximumProblems: Int, _ progress: (IntegrityStep) throws -> Void
    ) throws -> IntegrityReport {
        try progress(.pages)
        let rows = try pageProblems(level, maximumProblems)
        let lines = rows.flatMap(IntegrityMessage.lines).prefix(maximumProblems)
        let problems = lines.map { problem($0) }
        try progress(.foreignKeys)
        var foreignKeyProblems: [IntegrityReport.Problem] = []
        var violations: [ForeignKeyViolation] = []
        do {
            violations = try brokenForeignKeys(maximumCount: maximumProblems)
        } catch let error as DatabaseError where error.concernsRow {
            // A key that references columns that aren't unique can't be checked.
            foreignKeyProblems = [
                IntegrityReport.Problem(
                    message: error.message ?? "\(error)", kind: .constraint, table: nil, index: nil, page: nil,
                    rootPage: nil)
            ]
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT && !problems.isEmpty {
            // The problems say why.
        }
        return IntegrityReport(
            level: level, problems: problems + foreignKeyProblems, foreignKeyViolations: violations)
    }

    /// The rows of SQLite's check. The check itself may fail on a damaged page, after it has found others.
    private func pageProblems(_ level: IntegrityReport.Level, _ maximumCount: Int) throws -> [String] {
        let name = level == .full ? "integrity_check" : "quick_check"
        guard 1...Int(Int32.max) ~= maximumCount else {
            throw DatabaseError.misuse("\(name) returns at least 1 problem, not \(maximumCount)")
        }
        var rows: [String] = []
        do {
            let cursor = try String.fetchCursor(makeStatement(sql: "PRAGMA main.\(name)(\(maximumCount))"))
            while let row = try cursor.next() { rows.append(row) }
        } catch let error as DatabaseError where error.saysThatFileIsDamaged {
            if rows.isEmpty { rows = try problemsOfTables(name, after: error) }
            rows.append(error.message ?? "\(error)")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR && rows.isEmpty {
            // A tokenizer is missing, or the settings of a full-text table are damaged: it counts as unchecked.
            rows = try problemsOfTables(name, after: error)
        }
        return rows == ["ok"] ? [] : rows
    }

    /// Checks the tables one by one: a virtual table that can't be opened makes newer versions of SQLite end the check
    /// before it has begun.
    private func problemsOfTables(_ check: String, after error: DatabaseError) throws -> [String] {
        let roots = try Row.fetchAll(self, sql: "SELECT name, rootpage FROM main.sqlite_master WHERE type = 'table'")
        guard roots.contains(where: { $0[1] as Int? ?? 0 == 0 }) else { throw error }
        return try roots.filter { $0[1] as Int? ?? 0 > 0 }.flatMap { row in
            let name = (row[0] as String).quotedDatabaseIdentifier
            let problems = try String.fetchAll(self, sql: "PRAGMA main.\(check)(\(name))")
            return problems == ["ok"] ? [] : problems
        }
    }

    private func brokenForeignKeys(maximumCount: Int) throws -> [ForeignKeyViolation] {
        let cursor = try ForeignKeyViolation.fetchCursor(makeStatement(sql: "PRAGMA main.foreign_key_check"))
        var violations: [ForeignKeyViolation] = []
        while violations.count < maximumCount, let violation = try cursor.next() { violations.append(violation) }
        return violations
    }

    private func problem(_ line: String) -> IntegrityReport.Problem {
        let message = IntegrityMessage(line)
        var (table, index) = (message.table, message.index)
        if let index {
            table = try? String.fetchOne(
                self, sql: "SELECT tbl_name FROM main.sqlite_master WHERE type = 'index' AND name = ?",
                arguments: [index])
        } else if let root = message.rootPage,
            let found = try? Row.fetchOne(
                self, sql: "SELECT type, name, tbl_name FROM main.sqlite_master WHERE rootpage = ?", arguments: [root])
        {
            table = found[2]
            if found[0] == "index" { index = found[1] }
        }
        return IntegrityReport.Problem(
            message: line, kind: message.kind, table: table, index: index, page: message.page,
            rootPage: message.rootPage)
    }

    // MARK: - Full text

    /// The virtual tables of full-text search, with the names of their modules.
    func fullTextTables() throws -> [(name: String, module: String)] {
        let rows = try Row.fetchAll(
            self,
            sql: """
                SELECT name, sql FROM main.sqlite_master \
                WHERE type = 'table' AND rootpage = 0 AND sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name
                """)
        return rows.compactMap { row in
            let (name, sql): (String, String) = (row[0], row[1])
            let module = VirtualTableText(sql).module
            return ["fts3", "fts4", "fts5"].contains(module) ? (name, module) : nil
        }
    }

    /// Checks full-text indexes.
    ///
    /// - parameter writes: whether the connection may write. If so, SQLite's command compares the index with its
    ///   table: <https://www.sqlite.org/fts5.html#the_integrity_check_command>. It changes nothing. If not, the index
    ///   is read from its beginning to its end.
    func checkFullText(
        writes: Bool, _ progress: (IntegrityStep) throws -> Void
    ) throws -> (failures: [IntegrityReport.FullTextFailure], unchecked: [String]) {
        var failures: [IntegrityReport.FullTextFailure] = []
        var unchecked: [String] = []
        for (name, module) in try fullTextTables() {
            try progress(.fullText(table: name))
            do {
                if writes { try commandIntegrityCheck(name) } else { try readWholeIndex(name, module) }
            } catch let error as DatabaseError {
                switch error.resultCode {
                case .SQLITE_CORRUPT: failures.append(IntegrityReport.FullTextFailure(table: name, error: error))
                case .SQLITE_ERROR, .SQLITE_READONLY, .SQLITE_AUTH: unchecked.append(name)
                default: throw error
                }
            }
        }
        return (failures, unchecked)
    }

    private func commandIntegrityCheck(_ name: String) throws {
        let name = name.quotedDatabaseIdentifier
        // Rolled back, so that nobody is told of a change.
        try inSavepoint {
            try execute(sql: "INSERT INTO main.\(name) (\(name)) VALUES ('integrity-check')")
            return .rollback
        }
    }

    private func readWholeIndex(_ name: String, _ module: String) throws {
        let table = name.quotedDatabaseIdentifier
        let auxiliary = module == "fts5" ? "fts5vocab(main, \(table), 'row')" : "fts4aux(main, \(table))"
        try execute(sql: "CREATE VIRTUAL TABLE temp.quarry_integrity USING \(auxiliary)")
        defer { try? execute(sql: "DROP TABLE temp.quarry_integrity") }
        _ = try Int.fetchOne(self, sql: "SELECT count(*) FROM temp.quarry_integrity")
    }
}

/// The text of a `CREATE VIRTUAL TABLE`.
struct VirtualTableText {
    /// The module, in small letters.
    let module: String
    /// Whether a full-text table keeps no text: `content=''`.
    let isContentless: Bool
    /// Whether the text of a full-text table is in another table or a view: `content='note'`.
    let hasExternalContent: Bool

    init(_ sql: String) {
        // Names in quotes may have any words.
        let text = Self.withoutName(sql.lowercased())
        let rest =
            text.ranges(of: "using").first { range in
                let before = range.lowerBound == text.startIndex ? " " : text[text.index(before: range.lowerBound)]
                let after = range.upperBound == text.endIndex ? " " : text[range.upperBound]
                return before.isWhitespace && after.isWhitespace
            }.map { text[$0.upperBound...] } ?? ""
        module = String(rest.drop { $0.isWhitespace }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        let dense = rest.filter { !$0.isWhitespace }
        isContentless = dense.contains("content=''") || dense.contains("content=\"\"")
        hasExternalContent = !isContentless && dense.contains("content=")
    }

    /// The text without the first name in quotes, if that is the table's.
    private static func withoutName(_ text: String) -> String {
        let opening = text.firstIndex { "\"'`[".contains($0) } ?? text.endIndex
        guard opening < text.endIndex, !text[..<opening].contains("(") else { return text }
        let mark: Character = text[opening] == "[" ? "]" : text[opening]
        // A doubled mark is part of the name: the rest of the name is then another one in quotes.
        guard let closing = text[text.index(after: opening)...].firstIndex(of: mark) else { return text }
        let rest = String(text[text.index(after: closing)...])
        return rest.first == mark ? withoutName(rest) : rest
    }
}
