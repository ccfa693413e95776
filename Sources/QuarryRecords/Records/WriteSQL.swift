import QuarryCore
import QuarrySQL

/// A part of a statement, with its current arguments.
struct WrittenSQL: Equatable {
    var text: String
    var arguments: [DatabaseValue]

    init(_ db: Database, _ write: (inout QueryWriter) throws -> Void) throws {
        var writer = QueryWriter(schema: db)
        try write(&writer)
        text = writer.sql()
        arguments = writer.statementArguments().values
    }

    static func == (lhs: WrittenSQL, rhs: WrittenSQL) -> Bool { lhs.text.isSpelled(as: rhs.text) }
}

/// The assignments of an upsert to an existing row.
struct UpsertAssignments: Equatable {
    var sql: WrittenSQL

    /// The columns that are assigned or excluded.
    var columns: [String]
}

/// The SQL that writes a record: its parameters are columns of the record, by their index.
struct WriteSQL {
    private(set) var sql = ""
    private(set) var parameters: [Int] = []

    /// The number of parameters before those of the key.
    private(set) var keyStart = Int.max

    /// - parameter names: the columns that the record encodes.
    /// - parameter key: the indexes of the primary key's columns among them, if the kind needs it.
    init(_ kind: WriteKind, _ shape: TableShape, names: [String], key: [Int]) throws {
        switch kind.verb {
        case .insert:
            try insert(kind, shape, names)
        case .upsert:
            try insert(kind, shape, names)
            try update(onConflict: kind, shape, names)
        case .update:
            try update(kind, shape, names, key)
            findRow(shape, key)
        case .delete:
            sql = "DELETE FROM \(shape.name.quotedDatabaseIdentifier)"
            findRow(shape, key)
        case .exists:
            sql = "SELECT EXISTS (SELECT 1 FROM \(shape.name.quotedDatabaseIdentifier)"
            findRow(shape, key)
            sql += ")"
        }
        switch kind.returning {
        case .nothing: break
        case .row: sql += " RETURNING " + (kind.returned?.text ?? "*")
        case .rowID:
            let columns = (shape.rowIDName.map { [$0] } ?? shape.primaryKey).map(\.quotedDatabaseIdentifier)
            // A value is returned for a row, so that the row is known to be written.
            sql += " RETURNING " + (columns.isEmpty ? "1" : columns.joined(separator: ", "))
        case .rowAndRowID:
            sql += " RETURNING " + (kind.returned?.text ?? "*")
            sql += (shape.rowIDName.map { ", " + $0.quotedDatabaseIdentifier } ?? "")
        }
    }

    private mutating func insert(_ kind: WriteKind, _ shape: TableShape, _ names: [String]) throws {
        let places: [Int]
        if let columns = kind.columns {
            places = try Self.places(of: columns, in: names, shape)
        } else {
            places = Array(names.indices)
        }
        sql = "INSERT \(kind.resolution.insertedSQL)INTO \(shape.name.quotedDatabaseIdentifier)"
        guard !places.isEmpty else {
            sql += " DEFAULT VALUES"
            return
        }
        let columns = places.map { names[$0].quotedDatabaseIdentifier }.joined(separator: ", ")
        let marks = repeatElement("?", count: places.count).joined(separator: ",")
        sql += " (\(columns)) VALUES (\(marks))"
        parameters = places
    }

    private mutating func update(onConflict kind: WriteKind, _ shape: TableShape, _ names: [String]) throws {
        let target = kind.conflictTarget
        sql += " ON CONFLICT"
        if !target.isEmpty { sql += "(" + target.map(\.quotedDatabaseIdentifier).joined(separator: ", ") + ")" }
        let written = parameters.map { names[$0] }
        var assignments: [String] = []
        if kind.strategy == .allColumns {
            let others = target + (kind.assignments?.columns ?? [])
            assignments = written.filter { name in
                !shape.isOfPrimaryKey(name) && !others.contains { $0.isSameName(as: name) }
            }.map { "\($0.quotedDatabaseIdentifier) = \"excluded\".\($0.quotedDatabaseIdentifier)" }
        }
        if let sql = kind.assignments?.sql.text, !sql.isEmpty { assignments.insert(sql, at: 0) }
        if assignments.isEmpty {
            // A column is written, so that RETURNING returns the row.
            guard let column = shape.primaryKey.first?.quotedDatabaseIdentifier else { throw shape.noPrimaryKey }
            assignments = ["\(column) = \(column)"]
        }
        sql += " DO UPDATE SET " + assignments.joined(separator: ", ")
    }

    private mutating func update(_ kind: WriteKind, _ shape: TableShape, _ names: [String], _ key: [Int]) throws {
        var places: [Int]
        if let columns = kind.columns {
            places = try Self.places(of: columns, in: names, shape)
        } else {
            places = names.indices.filter { shape.column(names[$0]) != nil }
        }
        places.removeAll { shape.isOfPrimaryKey(names[$0]) }
        // A column is written, so that triggers and observers are called.
        if places.isEmpty { places = key }
        let assignments = places.map { "\(names[$0].quotedDatabaseIdentifier)=?" }.joined(separator: ", ")
        sql = "UPDATE \(kind.resolution.insertedSQL)\(shape.name.quotedDatabaseIdentifier) SET \(assignments)"
        parameters = places
    }

    private mutating func findRow(_ shape: TableShape, _ key: [Int]) {
        keyStart = parameters.count
        parameters += key
        sql += " WHERE " + shape.primaryKey.map { "\($0.quotedDatabaseIdentifier)=?" }.joined(separator: " AND ")
    }

    /// The indexes of the columns that a caller has named.
    private static func places(of columns: [String], in names: [String], _ shape: TableShape) throws -> [Int] {
        var places: [Int] = []
        for column in columns {
            guard let place = names.firstIndex(where: { $0.isSameName(as: column) }) else {
                throw DatabaseError.misuse(
                    "the record has no column \(String(reflecting: column)) of table \(shape.name)")
            }
            guard shape.column(column) != nil || shape.isOfPrimaryKey(column) else {
                throw DatabaseError(message: "table \(shape.name) has no column named \(column)")
            }
            if !places.contains(place) { places.append(place) }
        }
        // In the order of the record, so that two orders share one statement.
        return places.sorted()
    }
}

extension TableShape {
    var noPrimaryKey: DatabaseError {
        DatabaseError(message: "\(isView ? "view" : "table") \(name) has no primary key")
    }
}
