public import QuarryCore
public import QuarrySQL

// The regions of requests and tables.

extension QueryInterfaceRequest {
    /// The tables, columns and rows that the request reads.
    ///
    /// ```swift
    /// try Player.filter(key: 1).databaseRegion(db)          // player(id,name,score)[1]
    /// try Player.select(Column("name")).databaseRegion(db)  // player(name)
    /// ```
    ///
    /// Rows are known from conditions on the primary key or the rowid. The tables of associations that are prefetched
    /// belong to the region.
    ///
    /// - throws: `SQLITE_MISUSE` for a request that can't be written as SQL; `DatabaseError`.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let request = try makePreparedRequest(db)
        var region = try db.region(of: request.statement, query)
        if let prefetches = (request.supplement as? RequestPrefetch)?.prefetches {
            region.formUnion(try prefetches.region)
        }
        return region
    }
}

extension PrefetchedScope {
    /// The region that the prefetches read.
    fileprivate var region: DatabaseRegion {
        get throws {
            var region = DatabaseRegion()
            for list in lists {
                try list.forEachPlan { plan, _ in
                    region.formUnion(plan.statement.databaseRegion)
                    if let nested = plan.prefetches { region.formUnion(try nested.region) }
                }
            }
            for (_, scope) in namedScopes { region.formUnion(try scope.region) }
            return region
        }
    }
}

extension Database {
    /// The region of a query's statement, with the rows that the query's conditions tell.
    fileprivate func region(of statement: Statement, _ query: SelectQuery) throws -> DatabaseRegion {
        let region = statement.databaseRegion
        guard let table = query.tableName, query.schemaName == nil, query.filter != nil else { return region }
        return self.region(
            region, rows: { query.rowIDs(named: $0, key: $1) { isSeparate($0, from: table) } }, of: table)
    }

    /// Whether reading a table reads no row of another: it isn't the same, no view, and no virtual table.
    private func isSeparate(_ name: String, from other: String) -> Bool {
        guard !name.isSameName(as: other), let shape = try? TableShape(self, name), let schema = shape.schema else {
            return false
        }
        return !shape.isView && !isVirtual(TableName(schema: schema, name: shape.name))
    }

    /// - parameter rows: the rows, given the names of the rowid, and the name of the primary key if it is the rowid.
    private func region(
        _ region: DatabaseRegion, rows: (_ names: [String], _ key: String?) -> Set<Int64>?, of table: String
    ) -> DatabaseRegion {
        guard let shape = try? TableShape(self, table), let schema = shape.schema, shape.hasRowID else { return region }
        let names = (shape.rowIDColumn.map { [$0] } ?? []) + shape.rowIDNames
        let isKey = shape.primaryKey.allSatisfy { key in names.contains { $0.isSameName(as: key) } }
        guard let rowIDs = rows(names, isKey ? names.first : nil) else { return region }
        return region.restricted(toRows: rowIDs, of: TableName(schema: schema, name: shape.name))
    }

    /// Notes the rows that a query's statement is about to read, if the region of reads is recorded.
    @inline(__always)
    func noteRows(of query: SelectQuery, _ request: PreparedRequest) {
        if asksForRegion { noteRowsWhileRecording(of: query, request) }
    }

    @inline(never)
    private func noteRowsWhileRecording(of query: SelectQuery, _ request: PreparedRequest) {
        // The lists of rows that don't exist yet belong to the region. They come first, because reading the schema runs
        // other statements than the expected one.
        if let prefetches = (request.supplement as? RequestPrefetch)?.prefetches {
            let region = (try? prefetches.region) ?? .fullDatabase
            try? registerAccess(to: region)
        }
        guard let region = try? region(of: request.statement, query) else { return }
        expectRead(sql: request.statement.sql, request.statement.arguments, region)
    }

    /// Notes the rows that a statement is about to read by their keys, if the region of reads is recorded.
    func noteRows(_ keys: [DatabaseValue], column: String, of table: String, _ request: SQLRequest<some Any>) {
        guard asksForRegion, let statement = try? request.makePreparedRequest(self).statement else { return }
        let region = region(
            statement.databaseRegion,
            rows: { names, _ in
                guard names.contains(where: { $0.isSameName(as: column) }) else { return nil }
                var rowIDs: Set<Int64> = []
                for key in keys {
                    guard case .int64(let rowID) = key.rawStorage else { return nil }
                    rowIDs.insert(rowID)
                }
                return rowIDs
            }, of: table)
        expectRead(sql: statement.sql, statement.arguments, region)
    }
}

extension Table: DatabaseRegionConvertible {
    /// All columns and rows of the table.
    ///
    /// - throws: `DatabaseError` if the table doesn't exist.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try DatabaseRegion(db.tableInRegion(named: tableName))
    }
}

extension Database {
    /// The table or view of that name.
    ///
    /// - throws: `DatabaseError` if it doesn't exist.
    fileprivate func tableInRegion(named name: String) throws -> TableName {
        if let found = try schema.find(name, in: nil, self) { return TableName(schema: found.schema, name: found.name) }
        // SQLite's own tables aren't listed in the schema.
        let region = try makeStatement(sql: "SELECT 1 FROM \(name.quotedDatabaseIdentifier)").databaseRegion
        return region.tableNames?.first ?? TableName(schema: "main", name: name)
    }
}
