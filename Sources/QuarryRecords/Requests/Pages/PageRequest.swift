public import QuarryCore
public import QuarrySQL

extension QueryInterfaceRequest {
    /// A page of the rows: the first one, or the one after or before a row.
    ///
    /// ```swift
    /// let first = try Player.order(\.score.desc).page(size: 20).fetch(db)
    /// let second = try Player.order(\.score.desc).page(size: 20, after: first.next).fetch(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY "score" DESC, "id" DESC LIMIT 21
    /// SELECT * FROM "player" WHERE ("score" = 1000) AND ("id" < 7) ORDER BY "id" DESC LIMIT 21
    /// SELECT * FROM "player" WHERE "score" < 1000 ORDER BY "score" DESC, "id" DESC LIMIT 21
    /// ```
    ///
    /// The rows are found by the values of the last row, so that a page costs the same at any depth, if the order has
    /// an index: one on `score` in the example. A query runs only if those before it haven't filled the page. Rows that
    /// are inserted or deleted meanwhile move no other row to another page. A row whose score changes moves, and may be
    /// on two pages, or on none.
    ///
    /// The order ends with the primary key, which is added if it is missing, in the direction of the last term; a
    /// joined table with several rows for one row adds its key, too. Columns and expressions may be NULL, have
    /// collations, and belong to joined tables.
    ///
    /// See <https://www.sqlite.org/rowvalue.html#scrolling_window_queries>.
    ///
    /// - parameters:
    ///   - size: the largest number of rows, from 1.
    ///   - after: the token of the page before; nil for the first page.
    ///   - before: the token of the page after; nil for none.
    public func page(
        size: Int, after: PageToken? = nil, before: PageToken? = nil
    ) -> PageRequest<RowDecoder> {
        PageRequest(query: query, size: size, after: after, before: before)
    }

    /// A page of the rows by its number, with the number of all rows.
    ///
    /// ```swift
    /// let page = try Player.order(\.name).page(number: 3, size: 20).fetch(db)
    /// print("page \(page.number) of \(page.pageCount)")
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "player"
    /// SELECT * FROM "player" ORDER BY "name", "id" LIMIT 20 OFFSET 40
    /// ```
    ///
    /// The rows have the order of `page(size:after:before:)`. A request that it refuses, such as one with an order
    /// written as SQL, has pages by number, too, in the order of `withStableOrder()`.
    ///
    /// SQLite reads and skips the rows of the pages before. Rows that are inserted or deleted meanwhile move others to
    /// another page: `page(size:after:)` does neither.
    ///
    /// - parameters:
    ///   - number: the number of the page, from 1.
    ///   - size: the largest number of rows, from 1.
    public func page(number: Int, size: Int) -> NumberedPageRequest<RowDecoder> {
        NumberedPageRequest(request: self, number: number, size: size)
    }
}

extension TableRecord {
    /// A page of all rows, in the order of the primary key.
    ///
    /// ```swift
    /// let page = try Player.page(size: 20, after: token).fetch(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" > 7 ORDER BY "id" LIMIT 21
    /// ```
    ///
    /// See `QueryInterfaceRequest.page(size:after:before:)`.
    public static func page(size: Int, after: PageToken? = nil, before: PageToken? = nil) -> PageRequest<Self> {
        all().page(size: size, after: after, before: before)
    }

    /// A page of all rows by its number, with the number of all rows.
    ///
    /// ```swift
    /// let page = try Player.page(number: 2, size: 20).fetch(db)
    /// ```
    ///
    /// See `QueryInterfaceRequest.page(number:size:)`.
    public static func page(number: Int, size: Int) -> NumberedPageRequest<Self> {
        all().page(number: number, size: size)
    }
}

extension Table {
    /// A page of all rows, in the order of the primary key.
    ///
    /// ```swift
    /// let page = try Table("player").page(size: 20).fetch(db) // RecordPage<Row>
    /// ```
    ///
    /// See `QueryInterfaceRequest.page(size:after:before:)`.
    public func page(size: Int, after: PageToken? = nil, before: PageToken? = nil) -> PageRequest<RowDecoder> {
        all().page(size: size, after: after, before: before)
    }

    /// A page of all rows by its number, with the number of all rows.
    ///
    /// ```swift
    /// let page = try Table("player").page(number: 2, size: 20).fetch(db) // NumberedPage<Row>
    /// ```
    ///
    /// See `QueryInterfaceRequest.page(number:size:)`.
    public func page(number: Int, size: Int) -> NumberedPageRequest<RowDecoder> {
        all().page(number: number, size: size)
    }
}

/// A page of a request, made by `page(size:after:before:)`. It is a value: nothing is read until it is fetched.
///
/// ```swift
/// let request = Player.order(\.score.desc).page(size: 20, after: token)
/// let page = try await dbPool.read { db in try request.fetch(db) }
/// ```
public struct PageRequest<RowDecoder>: Sendable {
    let query: SelectQuery
    let size: Int
    let after: PageToken?
    let before: PageToken?

    /// The number of rows of all pages.
    ///
    /// ```swift
    /// let total = try Player.order(\.score.desc).page(size: 20).fetchCount(db)
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "player"
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a request that can't be written as SQL; `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int {
        try QueryInterfaceRequest<RowDecoder>(query: query).fetchCount(db)
    }
}

extension PageRequest where RowDecoder: RowDecodable {
    /// The page, from one state of the database: outside a transaction, its queries run in one.
    ///
    /// ```swift
    /// let page = try Player.order(\.score.desc).page(size: 20).fetch(db)
    /// let players = page.items
    /// ```
    ///
    /// - throws: `PageTokenError.otherOrder` for a token of a request with another order; `SQLITE_MISUSE` for a request
    ///   whose rows have no key, or whose order is written as SQL; `DatabaseError`; `RowDecodingError`.
    public func fetch(_ db: Database) throws -> RecordPage<RowDecoder> {
        try checkPageSize(size)
        if after != nil, before != nil {
            throw DatabaseError.misuse("a page is either after or before a row: give one token")
        }
        return try db.inOneState { try fetchPage(db) }
    }

    private func fetchPage(_ db: Database) throws -> RecordPage<RowDecoder> {
        let order = try PageOrder(of: query, db)
        let token = after ?? before
        if let token {
            guard token.orderIdentifier == order.identifier, token.position.values.count == order.places.count else {
                throw PageTokenError.otherOrder
            }
        }
        // One more row tells whether there is a next page.
        let count = size == .max ? size : size + 1
        var rows: [Row] = []
        for var query in order.queries(from: token?.position, isReversed: before != nil) where rows.count < count {
            query.limit = SelectQuery.Limit(count: count - rows.count)
            rows += try Row.fetchAll(db, PageQuery(query: query, hidden: order.hiddenColumns))
        }
        let hasMore = rows.count > size
        if hasMore { rows.removeLast() }
        if before != nil { rows.reverse() }

        func edge(_ row: Row?, isKnown: Bool) -> PageToken? {
            guard isKnown else { return nil }
            guard let row else {
                // No row is left on this side: the page on the other side begins with the token's row.
                return token.map {
                    PageToken($0.orderIdentifier, PageOrder.Position(values: $0.position.values, isIncluded: true))
                }
            }
            return PageToken(order.identifier, PageOrder.Position(values: order.places.map { row.value(at: $0) }))
        }
        return RecordPage(
            items: try rows.map { try RowDecoder.detached(from: $0) },
            next: edge(rows.last, isKnown: before == nil ? hasMore : true),
            previous: edge(rows.first, isKnown: before == nil ? after != nil : hasMore))
    }
}

/// A page of a request by its number, made by `page(number:size:)`. It is a value: nothing is read until it is fetched.
///
/// ```swift
/// let request = Player.order(\.name).page(number: 3, size: 20)
/// let page = try await dbPool.read { db in try request.fetch(db) }
/// ```
public struct NumberedPageRequest<RowDecoder>: Sendable {
    let request: QueryInterfaceRequest<RowDecoder>
    let number: Int
    let size: Int
}

extension NumberedPageRequest where RowDecoder: RowDecodable {
    /// The page and the number of all rows, from one state of the database.
    ///
    /// ```swift
    /// let page = try Player.order(\.name).page(number: 3, size: 20).fetch(db)
    /// print("\(page.items.count) of \(page.total) players")
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a number or size below 1, a request with a limit, or a request that can't be
    ///   written as SQL; `DatabaseError`; `RowDecodingError`.
    public func fetch(_ db: Database) throws -> NumberedPage<RowDecoder> {
        try checkPageSize(size)
        if number < 1 { throw DatabaseError.misuse("page \(number): the number of the first page is 1") }
        if request.query.limit != nil {
            throw DatabaseError.misuse("a request with a limit has no pages: leave out limit(_:)")
        }
        return try db.inOneState {
            let total = try request.fetchCount(db)
            let (offset, isBeyond) = (number - 1).multipliedReportingOverflow(by: size)
            var items: [RowDecoder] = []
            if !isBeyond, offset < total {
                items = try fetchItems(db, offset: offset)
            }
            return NumberedPage(items: items, number: number, size: size, total: total)
        }
    }

    /// The rows of the page, in the order of `page(size:after:before:)`, so that both forms have the same pages.
    private func fetchItems(_ db: Database, offset: Int) throws -> [RowDecoder] {
        let order: PageOrder
        do {
            order = try PageOrder(of: request.query, db)
        } catch DatabaseError.SQLITE_MISUSE {
            // That form refuses the request.
            return try RowDecoder.fetchAll(db, request.withStableOrder().limit(size, offset: offset))
        }
        var query = order.queries(from: nil, isReversed: false)[0]
        query.limit = SelectQuery.Limit(count: size, offset: offset)
        let rows = try Row.fetchAll(db, PageQuery(query: query, hidden: order.hiddenColumns))
        return try rows.map { try RowDecoder.detached(from: $0) }
    }
}

private func checkPageSize(_ size: Int) throws {
    if size < 1 { throw DatabaseError.misuse("a page of \(size) rows: the size is 1 at least") }
}

/// A query with columns that its rows don't show.
private struct PageQuery: FetchRequest {
    typealias RowDecoder = Row

    let query: SelectQuery
    let hidden: Set<String>

    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
        hidden.isEmpty && !query.needsPlan
            ? try db.prepare { try $0.write(query) }
            : try db.preparePlan(of: query, hidden: hidden, singleRow: false)
    }

    func fetchCount(_ db: Database) throws -> Int { try QueryInterfaceRequest<Row>(query: query).fetchCount(db) }
}

extension Row {
    fileprivate func value(at place: PageOrder.Place) -> DatabaseValue {
        switch place {
        case .column(let name): self[name]
        case .hidden(let name): unadapted[name]
        }
    }
}

extension Database {
    /// Runs several queries that read the same state.
    fileprivate func inOneState<T>(_ body: () throws -> T) throws -> T {
        if isInsideTransaction { return try body() }
        return try withTransaction(.deferred) { (.commit, try body()) }
    }
}
