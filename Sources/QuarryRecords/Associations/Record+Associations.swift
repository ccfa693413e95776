import QuarryCore
public import QuarrySQL

extension EncodableRecord where Self: TableRecord {
    /// A request for the rows that are associated with this record.
    ///
    /// ```swift
    /// let players = try team.request(for: Team.players).fetchAll(db)
    /// let team = try player.request(for: Player.team).fetchOne(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "teamId" = 1
    /// SELECT * FROM "team" WHERE "id" = 1
    /// ```
    ///
    /// The request throws if the record has no value for a column of the association's key. If a value is NULL, the
    /// request has no rows.
    public func request<A: Association>(for association: A) -> QueryInterfaceRequest<A.RowDecoder>
    where A.OriginRowDecoder == Self {
        let values = Result { try databaseDictionary }.mapError { $0 as any Error }
        let table = Self.databaseTableName
        let path = association.path
        let first = path.steps[0]
        let destination = first.query.sourceName
        let type = String(describing: Self.self)
        let condition = SQLExpression.deferred { schema in
            let pairs = try first.condition.pairs(from: table, to: destination, schema)
            guard !pairs.isEmpty else {
                throw DatabaseError.misuse(
                    "no request for one \(type): the association to \(destination) isn't one of equal columns")
            }
            let dictionary = try values.get()
            let equal = try pairs.map { pair -> (column: String, value: DatabaseValue) in
                let value =
                    dictionary[pair.left] ?? dictionary.first { $0.key.isSameName(as: pair.left) }?.value
                guard let value else {
                    throw DatabaseError.misuse(
                        "a record of type \(type) has no column \(pair.left), by which it finds rows of " + destination)
                }
                return (column: pair.right, value: value)
            }
            return equal.contains { $0.value.isNull } ? .nothing : .equalities(equal)
        }
        return QueryInterfaceRequest(query: path.reversedQuery { $0.filter(condition) })
    }
}
