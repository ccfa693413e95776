public import QuarryCore

// Calls that look right, and mean nothing: they name columns that no `Columns` declares, compare values that no column
// can have, or pass SQL without a label. Swift's own errors would name protocols and closures; these say what to do.
//
// Swift tries unavailable functions only if nothing else fits, so they change no other call, and take no time.

/// The columns of a type that declares others, or none: it has all names.
@dynamicMemberLookup
public struct UndeclaredColumns {
    /// The column with a name.
    public subscript(dynamicMember name: String) -> Column { Column(name) }
}

extension TableRecord {
    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func select(_ selection: (UndeclaredColumns) throws -> [any SQLSelectable]) -> QueryInterfaceRequest<
        Self
    > { all() }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func select(_ selection: (UndeclaredColumns) throws -> any SQLSelectable) -> QueryInterfaceRequest<
        Self
    > { all() }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func filter(_ predicate: (UndeclaredColumns) throws -> any SQLSpecificExpressible)
        -> QueryInterfaceRequest<Self>
    { all() }

    /// Unavailable: the properties of records are no columns.
    @available(
        *, unavailable, message: "declare the column in `enum Columns`; its values need DatabaseValueConvertible"
    )
    public static func filter(_ predicate: (Self) throws -> Bool) -> QueryInterfaceRequest<Self> { all() }

    /// Unavailable: SQL is an argument with a label.
    @available(*, unavailable, message: "use filter(sql:), or filter(literal:) for SQL with values")
    public static func filter(_ sql: String) -> QueryInterfaceRequest<Self> { all() }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func order(_ orderings: (UndeclaredColumns) throws -> [any SQLOrderingTerm]) -> QueryInterfaceRequest<
        Self
    > { all() }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func order(_ ordering: (UndeclaredColumns) throws -> any SQLOrderingTerm) -> QueryInterfaceRequest<
        Self
    > { all() }

    /// Unavailable: SQL is an argument with a label.
    @available(*, unavailable, message: "use order(sql:), or order(literal:) for SQL with values")
    public static func order(_ sql: String) -> QueryInterfaceRequest<Self> { all() }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public static func group(_ expressions: (UndeclaredColumns) throws -> [any SQLExpressible])
        -> QueryInterfaceRequest<Self>
    { all() }
}

extension SelectionRequest where RowDecoder: TableRecord {
    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func select(_ selection: (UndeclaredColumns) throws -> [any SQLSelectable]) -> Self { self }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func select(_ selection: (UndeclaredColumns) throws -> any SQLSelectable) -> Self { self }
}

extension FilteredRequest {
    /// Unavailable: SQL is an argument with a label.
    @available(*, unavailable, message: "use filter(sql:), or filter(literal:) for SQL with values")
    public func filter(_ sql: String) -> Self { self }
}

extension FilteredRequest where RowDecoder: TableRecord {
    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func filter(_ predicate: (UndeclaredColumns) throws -> any SQLSpecificExpressible) -> Self { self }

    /// Unavailable: the properties of records are no columns.
    @available(
        *, unavailable, message: "declare the column in `enum Columns`; its values need DatabaseValueConvertible"
    )
    public func filter(_ predicate: (RowDecoder) throws -> Bool) -> Self { self }
}

extension OrderedRequest {
    /// Unavailable: SQL is an argument with a label.
    @available(*, unavailable, message: "use order(sql:), or order(literal:) for SQL with values")
    public func order(_ sql: String) -> Self { self }
}

extension OrderedRequest where RowDecoder: TableRecord {
    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func order(_ orderings: (UndeclaredColumns) throws -> [any SQLOrderingTerm]) -> Self { self }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func order(_ ordering: (UndeclaredColumns) throws -> any SQLOrderingTerm) -> Self { self }
}

extension AggregatingRequest where RowDecoder: TableRecord {
    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func group(_ expressions: (UndeclaredColumns) throws -> [any SQLExpressible]) -> Self { self }

    /// Unavailable: the column is not declared.
    @available(*, unavailable, message: "declare the column in `enum Columns` of the record type")
    public func group(_ expression: (UndeclaredColumns) throws -> any SQLExpressible) -> Self { self }
}
