public import QuarryCore
public import QuarrySQL

// Rows by the values of a primary key with one column.

extension TableRequest {
    /// The row with the given primary key; no row for nil.
    ///
    /// ```swift
    /// let player = try Player.filter(key: 1).fetchOne(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column: a request throws if the key has several.
    @_disfavoredOverload
    public func filter(key: (any DatabaseValueConvertible & Sendable)?) -> Self {
        guard let key else { return filter(keys: [Int64]()) }
        return filter(singleKey: key)
    }

    private func filter(singleKey key: some DatabaseValueConvertible & Sendable) -> Self { filter(keys: [key]) }

    /// The rows with the given primary keys.
    ///
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    public func filter<Keys: Collection>(keys: Keys) -> Self
    where Keys.Element: DatabaseValueConvertible & Sendable {
        let keys = Array(keys)
        let type = RowDecoder.self as? any TableRecord.Type
        guard let type else {
            return changing { $0.filter(SQLExpression(keys: keys.count) { _ in keys.map(\.databaseValue) }) }
        }
        return changing { query in
            query.filter(
                SQLExpression(keys: keys.count) { column in keys.map { type.databaseValue(ofKey: $0, column: column) } }
            )
        }
    }
}

extension TableRequest where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible & Sendable {
    /// The row with the given id.
    ///
    /// ```swift
    /// let player = try Player.all().filter(id: 1).fetchOne(db)
    /// ```
    public func filter(id: RowDecoder.ID) -> Self { filter(key: id) }

    /// The rows with the given ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> Self { filter(keys: ids) }
}

extension TableRecord {
    /// The row with the given primary key; no row for nil.
    @_disfavoredOverload
    public static func filter(key: (any DatabaseValueConvertible & Sendable)?) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// The rows with the given primary keys.
    public static func filter<Keys: Collection>(keys: Keys) -> QueryInterfaceRequest<Self>
    where Keys.Element: DatabaseValueConvertible & Sendable {
        all().filter(keys: keys)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible & Sendable {
    /// The row with the given id.
    ///
    /// ```swift
    /// let player = try Player.filter(id: 1).fetchOne(db)
    /// ```
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> { all().filter(id: id) }

    /// The rows with the given ids.
    public static func filter(ids: some Collection<ID>) -> QueryInterfaceRequest<Self> { all().filter(ids: ids) }
}

extension Table {
    /// The row with the given primary key; no row for nil.
    @_disfavoredOverload
    public func filter(key: (any DatabaseValueConvertible & Sendable)?) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// The rows with the given primary keys.
    public func filter<Keys: Collection>(keys: Keys) -> QueryInterfaceRequest<RowDecoder>
    where Keys.Element: DatabaseValueConvertible & Sendable {
        all().filter(keys: keys)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible & Sendable {
    /// The row with the given id.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> { all().filter(id: id) }

    /// The rows with the given ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(ids: ids)
    }
}
