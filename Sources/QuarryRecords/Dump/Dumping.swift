import QuarryCore

/// A dump in progress: a format, and the stream it writes to.
struct Dumping<Format: DumpFormat> {
    private let db: Database
    private var format: Format
    private var stream: DumpStream

    /// Standard output, if no stream was given.
    private let standardOutput: DumpFile?

    /// Runs a dump. The text written before an error reaches the stream.
    static func run(
        _ db: Database, _ format: Format, to stream: (any TextOutputStream)?, _ body: (inout Dumping) throws -> Void
    ) throws {
        let standardOutput = stream == nil ? DumpFile() : nil
        var dumping = Dumping(
            db: db, format: format, stream: DumpStream(stream ?? standardOutput ?? DumpFile()),
            standardOutput: standardOutput)
        let result = Result { try body(&dumping) }
        dumping.stream.flush()
        standardOutput?.flush()
        try result.get()
        try dumping.stream.check()
    }

    // MARK: - Text

    /// Writes a line.
    mutating func write(line: String) throws { try write(line + "\n") }

    mutating func write(_ text: String) throws {
        stream.write(text)
        stream.flush()
        try stream.check()
    }

    /// Writes a name with an empty line before it.
    mutating func title(_ name: String) throws {
        stream.margin()
        try write(line: name)
    }

    mutating func margin() { stream.margin() }

    // MARK: - Rows

    /// Dumps the rows of a statement, whose arguments are set.
    mutating func rows(of statement: Statement) throws {
        stream.columns = nil
        try PreparedRequest(statement: statement).forEachRow { _ in try writeRow(statement) }
        try finish(statement)
    }

    /// Dumps the rows of a request, followed by its prefetched rows.
    mutating func rows(of request: PreparedRequest) throws {
        let prefetches = (request.supplement as? RequestPrefetch)?.prefetches
        guard let adapter = request.adapter as? JoinedRowAdapter else { return try rows(of: request.statement) }
        var hasRows = false
        try PreparedRequest(statement: request.statement, adapter: adapter).forEachRow { row in
            if !hasRows { stream.columns = adapter.dumpedColumns(of: request.statement) }
            hasRows = true
            prefetches?.findParents([row])
            try writeRow(request.statement)
        }
        if !hasRows { stream.columns = adapter.dumpedColumns(of: request.statement) }
        try finish(request.statement)
        if hasRows { try self.prefetches(of: prefetches, path: "") }
    }

    /// Dumps the prefetched rows of the dumped rows.
    ///
    /// - parameter path: the scopes on the way to them, each followed by a dot.
    private mutating func prefetches(of scope: PrefetchedScope?, path: String) throws {
        guard let scope else { return }
        for (name, inner) in scope.namedScopes { try prefetches(of: inner, path: path + name + ".") }
        for list in scope.lists {
            try title(path + list.pathName)
            var nested: PrefetchedScope?
            var last: (statement: Statement, columns: DumpedColumns)?
            try list.forEachPlan { plan, keys in
                let columns = plan.adapter.dumpedColumns(of: plan.statement, without: keys)
                // All plans of a list have the same columns, so the columns of the first plan locate the keys.
                nested = nested ?? plan.prefetches
                stream.columns = columns
                try plan.rows.forEachRow { row in
                    nested?.findParents([row])
                    try writeRow(plan.statement)
                }
                last = (plan.statement, columns)
            }
            if let last {
                stream.columns = last.columns
                try finish(last.statement)
            }
            try prefetches(of: nested, path: "")
        }
    }

    private mutating func writeRow(_ statement: Statement) throws {
        try format.writeRow(db, statement: statement, to: &stream)
        stream.flush()
        try stream.check()
    }

    private mutating func finish(_ statement: Statement) throws {
        format.finalize(db, statement: statement, to: &stream)
        stream.flush()
        try stream.check()
    }
}

extension JoinedRowAdapter {
    /// The table's own columns of a result.
    ///
    /// - parameter hidden: indexes of columns that are left out too.
    fileprivate func dumpedColumns(of statement: Statement, without hidden: [Int] = []) -> DumpedColumns {
        let names = names ?? statement.columnNames
        let indices = root.allColumns.sorted().filter { !hidden.contains($0) && $0 < names.count }
        return DumpedColumns(indices: indices, names: indices.map { names[$0] })
    }
}

extension JoinedRowAdapter.Scope {
    fileprivate var allColumns: [Int] { columns + scopes.values.flatMap(\.allColumns) }
}
