/// Some rows of a request, with the tokens of the pages before and after them.
///
/// ```swift
/// let page = try dbPool.read { db in
///     try Player.order(\.score.desc).page(size: 20, after: token).fetch(db)
/// }
/// print(page.items)
/// if let next = page.next { print("/players?after=\(next)") }
/// ```
public struct RecordPage<Item> {
    /// The rows, in the order of the request.
    public var items: [Item]

    /// The token of the next page, for `page(size:after:)`; nil if there are no more rows.
    public var next: PageToken?

    /// The token of the previous page, for `page(size:before:)`; nil if the page begins with the first row.
    public var previous: PageToken?

    /// A page.
    public init(items: [Item], next: PageToken? = nil, previous: PageToken? = nil) {
        self.items = items
        self.next = next
        self.previous = previous
    }

    /// The page with other items, such as those that an answer of a server has.
    ///
    /// ```swift
    /// let names = page.map { $0.name } // RecordPage<String>
    /// ```
    public func map<T, E: Error>(_ transform: (Item) throws(E) -> T) throws(E) -> RecordPage<T> {
        RecordPage<T>(items: try items.map(transform), next: next, previous: previous)
    }
}

extension RecordPage: Sendable where Item: Sendable {}
extension RecordPage: Equatable where Item: Equatable {}
extension RecordPage: Hashable where Item: Hashable {}
extension RecordPage: Encodable where Item: Encodable {}
extension RecordPage: Decodable where Item: Decodable {}

/// Some rows of a request, by the number of their page.
///
/// ```swift
/// let page = try dbPool.read { db in
///     try Player.order(\.name).page(number: 3, size: 20).fetch(db)
/// }
/// print("page \(page.number) of \(page.pageCount), \(page.total) players")
/// ```
public struct NumberedPage<Item> {
    /// The rows, in the order of the request; none after the last page.
    public var items: [Item]

    /// The number of the page, from 1.
    public var number: Int

    /// The number of rows of a full page.
    public var size: Int

    /// The number of rows of the request.
    public var total: Int

    /// The number of pages; 0 if the request has no rows.
    public var pageCount: Int { total / size + (total % size > 0 ? 1 : 0) }

    /// A page.
    ///
    /// - parameter size: 1 at least.
    public init(items: [Item], number: Int, size: Int, total: Int) {
        self.items = items
        self.number = number
        self.size = max(size, 1)
        self.total = total
    }

    /// The page with other items, such as those that an answer of a server has.
    ///
    /// ```swift
    /// let names = page.map { $0.name } // NumberedPage<String>
    /// ```
    public func map<T, E: Error>(_ transform: (Item) throws(E) -> T) throws(E) -> NumberedPage<T> {
        NumberedPage<T>(items: try items.map(transform), number: number, size: size, total: total)
    }
}

extension NumberedPage: Sendable where Item: Sendable {}
extension NumberedPage: Equatable where Item: Equatable {}
extension NumberedPage: Hashable where Item: Hashable {}
extension NumberedPage: Encodable where Item: Encodable {}
extension NumberedPage: Decodable where Item: Decodable {}
