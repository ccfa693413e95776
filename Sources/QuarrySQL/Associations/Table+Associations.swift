public import QuarryCore

// The associations of tables without a record type.

extension Table {
    // MARK: - Associations

    /// An association to the row of another table that a foreign key of this table references.
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(_path: AssociationPath.belongsTo(Destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table that a foreign key of this table references.
    public func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(_path: AssociationPath.belongsTo(destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table whose foreign key references this table.
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(_path: AssociationPath.hasOne(Destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table whose foreign key references this table.
    public func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(_path: AssociationPath.hasOne(destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another table whose foreign key references this table.
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(_path: AssociationPath.hasMany(Destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another table whose foreign key references this table.
    public func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(_path: AssociationPath.hasMany(destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another association's destination, through a pivot.
    ///
    /// - parameter pivot: an association of this table.
    /// - parameter target: an association of the pivot's destination.
    /// - parameter key: the name in results; nil for the target's name.
    public func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasManyThroughAssociation(
            _path: AssociationPath.through(pivot, target, key.map { AssociationKey(plural: $0) }))
    }

    /// An association to the row of another association's destination, through a pivot.
    ///
    /// - parameter pivot: an association of this table.
    /// - parameter target: an association of the pivot's destination.
    /// - parameter key: the name in results; nil for the target's name.
    public func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasOneThroughAssociation(
            _path: AssociationPath.through(pivot, target, key.map { AssociationKey(singular: $0) }))
    }

    /// An association to the rows of a common table expression that satisfy a condition.
    ///
    /// The request needs `with(_:)`.
    ///
    /// - parameter condition: a condition on a row of each table.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query, on: condition))
    }

    /// An association to all rows of a common table expression.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query))
    }
}

// MARK: - Requests

extension Table {
    /// The rows of the table with the rows of an association in a scope; rows without an associated row are left out.
    public func including<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(required: association)
    }

    /// The rows of the table with the rows of an association in a scope, whose columns are NULL for rows without an
    /// associated row.
    public func including<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(optional: association)
    }

    /// The rows of the table that have an associated row.
    public func joining<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(required: association)
    }

    /// The rows of the table, joined to the rows of an association, if any.
    public func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(optional: association)
    }

    /// The rows of the table with the columns of an association; rows without an associated row are left out.
    public func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().annotated(withRequired: association)
    }

    /// The rows of the table with the columns of an association, which are NULL for rows without an associated row.
    public func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().annotated(withOptional: association)
    }

    /// The rows of the table, each with all rows of an association.
    public func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(all: association)
    }

    /// The rows of the table with aggregates of the rows of associations.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: aggregates)
    }

    /// The rows of the table with aggregates of the rows of associations.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: aggregates)
    }

    /// The rows of the table that satisfy a condition on an aggregate of an association.
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().having(predicate)
    }
}

extension CommonTableExpression {
    /// An association to the rows of another common table expression that satisfy a condition.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query, on: condition))
    }

    /// An association to the rows of a table that satisfy a condition.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(Destination.all().query, on: condition))
    }

    /// An association to the rows of a table that satisfy a condition.
    public func association<Destination>(
        to destination: Table<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(destination.all().query, on: condition))
    }

    /// An association to all rows of another common table expression.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query))
    }

    /// An association to all rows of a table.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(Destination.all().query))
    }

    /// An association to all rows of a table.
    ///
    /// ```swift
    /// let request = best.all().with(best).including(required: best.association(to: Table("season")))
    /// ```
    /// ```sql
    /// WITH "best" AS (…) SELECT "best".*, "season".* FROM "best" JOIN "season"
    /// ```
    public func association<Destination>(
        to destination: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(_path: AssociationPath.join(destination.all().query))
    }
}
