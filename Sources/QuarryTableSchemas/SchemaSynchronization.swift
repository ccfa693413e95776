import Quarry
import QuarryCore
import QuarrySQL

/// Adds the columns and indexes that a record declares to a table. The caller has a savepoint.
struct SchemaSynchronization {
    let db: Database
    let table: DeclaredTable
    let mayRebuild: Bool

    func run() throws -> SchemaSyncReport {
        var report = SchemaSyncReport(table: table.name)
        let schemaName = table.schemaName ?? "main"
        guard let found = try db.schema.find(table.name, in: schemaName, db), found.kind == .table else {
            report.statements = try db.recordingChanges { try table.create(db) }
            report.createdTable = true
            report.addedColumns = try db.columns(in: table.name, in: schemaName).map(\.name)
            report.createdIndexes = table.indexes.map(\.name)
            return report
        }
        let comparison = try table.comparison(with: found, db)
        report.ignoredColumns = comparison.undeclaredColumns.map(\.name)
        report.undeclaredIndexes = comparison.undeclaredIndexes
        report.mismatches = comparison.differences
        let before = report
        if !mayRebuild || report.mismatches.isEmpty {
            try db.inSavepoint {
                try add(comparison, &report)
                return mayRebuild && !report.impossible.isEmpty ? .rollback : .commit
            }
            guard mayRebuild, !report.impossible.isEmpty else { return report }
        }
        report = before
        try rebuild(found, comparison, &report)
        return report
    }

    // MARK: - Adding

    private func add(_ comparison: TableComparison, _ report: inout SchemaSyncReport) throws {
        for column in comparison.missingColumns {
            for statement in try table.definition.additions(of: column.name, db.schemaResolver) {
                if let error = try attempt(statement, &report) {
                    report.impossible.append(impossible(column.name, error))
                } else {
                    report.addedColumns.append(column.name)
                }
            }
        }
        for name in comparison.missingIndexes {
            guard let index = table.indexes.first(where: { $0.name.isSameName(as: name) }) else { continue }
            if let error = try attempt(index.sql(db.schemaResolver), &report) {
                report.impossible.append(impossible(name, error))
            } else {
                report.createdIndexes.append(name)
            }
        }
    }

    /// Runs a statement; if SQLite refuses it, nothing changes.
    private func attempt(_ sql: String, _ report: inout SchemaSyncReport) throws -> DatabaseError? {
        do {
            try db.inSavepoint {
                try db.execute(sql: sql)
                return .commit
            }
            report.statements.append(sql)
            return nil
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_ERROR, .SQLITE_CONSTRAINT: return error
            default: throw error
            }
        }
    }

    private func impossible(_ name: String, _ error: DatabaseError) -> SchemaSyncReport.Impossible {
        let message = error.message ?? "\(error.extendedResultCode)"
        let reasons: [(String, SchemaSyncReport.Impossible.Reason)] = [
            ("primary key column", .primaryKey), ("unique column", .unique),
            ("not null column with default value null", .notNullWithoutDefault),
            ("non-constant default", .nonConstantDefault), ("stored column", .storedColumn),
            ("references column", .referenceWithDefault), ("constraint failed", .violatingRows),
        ]
        let text = message.lowercasedASCII
        let reason = reasons.first { text.contains($0.0) }?.1 ?? .other
        return SchemaSyncReport.Impossible(name: name, reason: reason, message: message)
    }

    // MARK: - Rebuilding

    private func rebuild(
        _ found: SchemaReader.Found, _ comparison: TableComparison, _ report: inout SchemaSyncReport
    ) throws {
        let old = try SQLWords.tableParts(of: sql("table", found.name, found.schema) ?? "")
        let declared = Set(SQLWords.tableParts(of: table.sql).map { SQLWords.normalized($0.sql) })
        report.statements += try db.recordingChanges {
            try db.rebuild(table: found.name, in: found.schema, options: table.schema.options) { t in
                try table.schema.define(t, inferred: table.inferred)
                for column in comparison.undeclaredColumns {
                    guard let part = old.first(where: { !$0.isConstraint && $0.word.isSameName(as: column.name) })
                    else {
                        throw DatabaseError(
                            message: "column \(column.name) of table \(found.name) isn't found in its definition")
                    }
                    t.column(sql: part.sql)
                }
            }
        }
        report.rebuiltTable = true
        report.addedColumns = comparison.missingColumns.map(\.name)
        report.mismatches = []
        report.droppedConstraints = old.filter { $0.isConstraint && !declared.contains(SQLWords.normalized($0.sql)) }
            .map(\.sql)
        for index in table.indexes {
            let declared = try index.sql(db.schemaResolver)
            var isNew = comparison.missingIndexes.contains { $0.isSameName(as: index.name) }
            if let actual = try sql("index", index.name, found.schema) {
                // The schema stores the SQL without the schema's name.
                var plain = index
                plain.schemaName = nil
                if try SQLWords.normalized(actual) != SQLWords.normalized(plain.sql(db.schemaResolver)) {
                    report.statements += try db.recordingChanges { try db.drop(index: index.name, in: found.schema) }
                    isNew = true
                    if let error = try attempt(declared, &report) {
                        report.impossible.append(impossible(index.name, error))
                        continue
                    }
                }
            } else if let error = try attempt(declared, &report) {
                report.impossible.append(impossible(index.name, error))
                continue
            }
            if isNew { report.createdIndexes.append(index.name) }
        }
    }

    private func sql(_ type: String, _ name: String, _ schema: String) throws -> String? {
        try String.fetchOne(
            db,
            sql: """
                SELECT sql FROM \(db.qualified("sqlite_master", schema)) \
                WHERE type = ? AND name = ? COLLATE NOCASE
                """, arguments: [type, name])
    }
}
