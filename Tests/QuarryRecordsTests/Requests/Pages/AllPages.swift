import Quarry

extension QueryInterfaceRequest where RowDecoder: RowDecodable {
    /// All pages, from the first to the last. Each token goes through its text.
    func allPages(_ db: Database, size: Int) throws -> [RecordPage<RowDecoder>] {
        var pages = [try page(size: size).fetch(db)]
        while let next = pages[pages.count - 1].next {
            pages.append(try page(size: size, after: PageToken(next.text)).fetch(db))
        }
        return pages
    }

    /// The items of a page and of all before it, which are read from the last to the first.
    func items(upTo last: RecordPage<RowDecoder>, _ db: Database, size: Int) throws -> [RowDecoder] {
        var pages = [last]
        while let previous = pages[pages.count - 1].previous {
            pages.append(try page(size: size, before: PageToken(previous.text)).fetch(db))
        }
        return pages.reversed().flatMap(\.items)
    }
}
