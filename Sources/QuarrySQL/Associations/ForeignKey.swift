import QuarryCore

/// The columns that an association uses to find its rows, if the schema has no foreign key, or several.
///
/// ```swift
/// extension Match {
///     static let home = belongsTo(Team.self, key: "home", using: ForeignKey(["homeId"]))
///     static let guest = belongsTo(Team.self, key: "guest", using: ForeignKey(["guestId"]))
/// }
/// ```
///
/// See <https://www.sqlite.org/foreignkeys.html>.
public struct ForeignKey: Hashable, Sendable {
    package let originColumns: [String]
    package let destinationColumns: [String]?

    /// Makes a foreign key of columns of a table and the columns of another table that they reference.
    ///
    /// - parameter originColumns: the columns of the referencing table.
    /// - parameter destinationColumns: the columns of the referenced table; nil for the columns that the schema's
    ///   foreign key references, or otherwise the primary key.
    public init(_ originColumns: [String], to destinationColumns: [String]? = nil) {
        self.originColumns = originColumns
        self.destinationColumns = destinationColumns
    }

    /// Makes a foreign key of columns of a table and the columns of another table that they reference.
    public init(_ originColumns: [any ColumnExpression], to destinationColumns: [any ColumnExpression]? = nil) {
        self.init(originColumns.map(\.name), to: destinationColumns?.map(\.name))
    }
}

extension Join.Condition {
    /// The condition that the columns of a foreign key are equal to the columns they reference.
    ///
    /// - parameter key: the columns; nil to look them up in the schema.
    /// - parameter isRight: whether the joined table has the key.
    static func foreignKey(_ key: ForeignKey?, ofRightTable isRight: Bool) -> Join.Condition {
        .columns { left, right, schema in
            let (origin, destination) = isRight ? (right, left) : (left, right)
            let pairs = try mapping(key, from: origin, to: destination, schema)
            return pairs.map {
                isRight ? (left: $0.destination, right: $0.origin) : (left: $0.origin, right: $0.destination)
            }
        }
    }

    private static func mapping(
        _ key: ForeignKey?, from origin: String, to destination: String, _ schema: any QuerySchema
    ) throws -> [(origin: String, destination: String)] {
        guard let key else { return try declaredMapping(from: origin, to: destination, schema) }
        let list = key.originColumns.joined(separator: ", ")
        var columns = key.destinationColumns
        if columns == nil {
            let declared = try? schema.references(from: origin).first { reference in
                reference.destination.isSameName(as: destination)
                    && reference.columns.count == key.originColumns.count
                    && reference.columns.allSatisfy { pair in
                        key.originColumns.contains { $0.isSameName(as: pair.origin) }
                    }
            }
            columns = declared.map { reference in
                key.originColumns.compactMap { name in
                    reference.columns.first { $0.origin.isSameName(as: name) }?.destination
                }
            }
        }
        let destinationColumns = try columns ?? schema.keyColumns(of: destination)
        guard !key.originColumns.isEmpty, key.originColumns.count == destinationColumns.count else {
            throw DatabaseError.misuse(
                "the foreign key of \(origin) with the columns (\(list)) can't refer to \(destination) with the columns "
                    + "(\(destinationColumns.joined(separator: ", "))): the numbers of columns must be equal")
        }
        return zip(key.originColumns, destinationColumns).map { (origin: $0, destination: $1) }
    }

    private static func declaredMapping(
        from origin: String, to destination: String, _ schema: any QuerySchema
    ) throws -> [(origin: String, destination: String)] {
        let references = try schema.references(from: origin).filter {
            $0.destination.isSameName(as: destination)
        }
        guard let reference = references.first else {
            throw DatabaseError.misuse(
                "table \(origin) has no foreign key to \(destination): name the columns with using: ForeignKey([…])")
        }
        guard references.count == 1 else {
            let keys = references.map { "(" + $0.columns.map(\.origin).joined(separator: ", ") + ")" }
            throw DatabaseError.misuse(
                "table \(origin) has several foreign keys to \(destination), \(keys.joined(separator: " and ")): "
                    + "choose one with using: ForeignKey([…])")
        }
        return reference.columns
    }

    /// The pairs of equal columns; none if the condition is of another kind.
    package func pairs(
        from left: String, to right: String, _ schema: any QuerySchema
    ) throws -> [(left: String, right: String)] {
        guard case .columns(let columns) = self else { return [] }
        return try columns(left, right, schema)
    }

    /// The condition with the tables exchanged.
    package var reversed: Join.Condition {
        switch self {
        case .none: .none
        case .expression(let condition): .expression { left, right in condition(right, left) }
        case .columns(let columns):
            .columns { left, right, schema in
                try columns(right, left, schema).map { (left: $0.right, right: $0.left) }
            }
        }
    }
}
